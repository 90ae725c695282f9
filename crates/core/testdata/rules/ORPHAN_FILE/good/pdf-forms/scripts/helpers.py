fill = None
