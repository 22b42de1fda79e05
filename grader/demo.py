def demo(root, console): return True
