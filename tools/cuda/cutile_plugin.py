"""For cuTile's tests: its own check of what a GPU has is off, since the emulated one runs what it is given."""
