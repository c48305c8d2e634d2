"""Control images made from photos and drawings by plain arithmetic; networks do it in `perception`."""
