"""View models of the Create page: the request's settings, checked and stored."""
