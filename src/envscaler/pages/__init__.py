"""One HTML page about a spec, for people: what is in the world, what can be done in it, and when it is refused."""

from envscaler.pages.render import Entry, index_entry, index_page, spec_page

__all__ = ["Entry", "index_entry", "index_page", "spec_page"]
