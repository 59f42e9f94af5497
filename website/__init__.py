"""The site: the pages of docs/, and those made from the registry, the commands, the docstrings and the samples.

``python -m website`` (``make site``) gathers all sources in one folder, gives them to Sphinx and checks what came out.
Nothing is fetched, neither when the site is built nor when it is read.
"""
