"""The simulated users that ship: each is made from a `Part`, as `plugin.roles.UserSimulator`."""
