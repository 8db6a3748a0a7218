// heddle-gui: the window.
int main() { return 6; }
