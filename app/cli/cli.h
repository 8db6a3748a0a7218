// Entry of the command line: finds the command in the table, parses, runs it, and turns results into exit codes.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace heddle::app {

/// The whole program without the process: results to `out`, messages to `err`. `args` excludes the program's name.
int run_cli(std::vector<std::string> args, std::ostream& out, std::ostream& err);

/// The process: standard streams, terminal width, colour and character set.
int run_cli(int argc, char** argv);

}  // namespace heddle::app
