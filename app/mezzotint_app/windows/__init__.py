"""Pages and dialogs: they show view models and pass input to them."""
