"""The agents that ship: each is made from a `Part` and gives replies, as `agents.Policy`."""
