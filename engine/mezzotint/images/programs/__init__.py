"""Metadata of other programs, a module for each form; A1111's and ComfyUI's are beside this folder."""
