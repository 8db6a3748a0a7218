// heddle: the command line. Everything the window does, without a display.
#include "app/cli/cli.h"

int main(int argc, char** argv) { return heddle::app::run_cli(argc, argv); }
