"""The checker of logic: parse, infer types and views, narrow, collect effects. Runs nothing."""
