// Entry of the command line: parses, dispatches, and turns results into exit codes (0 done, 1 internal, 2 usage, 3 invalid
// input, 4 negative answer, 5 no proof in time, 6 environment missing, 7 kernel failed, 130 interrupted).
#pragma once

namespace heddle::app {
int run_cli(int argc, char** argv);
}
