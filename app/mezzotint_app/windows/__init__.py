"""Pages and dialogs, which show view models and forward input to them."""
