"""A terminal session with an environment: lines, completion, undo and redo, recordings; nothing here prints."""
