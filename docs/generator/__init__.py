"""The generated pages of the documentation, a module for each kind. `docs/generate` puts them together."""
