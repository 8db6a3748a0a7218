// heddle on another machine, which is reached by ssh as the user's own configuration has it and is asked nothing at a prompt. What runs
// there is the package for servers (scripts/package.sh), copied once, or a heddle that is there already. Plain functions that wait.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/jobs/child_process.h"
#include "core/base/result.h"

namespace heddle::app {

struct RemoteHost {
  std::string name;     ///< as ssh takes it: a host, USER@HOST, or a name of its configuration
  std::string program;  ///< path of heddle there, "~/" at its beginning is the home there; empty: the package's
  std::string package;  ///< path of the package here; empty: what HEDDLE_PACKAGE names, else the one beside this program
};

/// Why ssh is not given this name; empty: it is.
std::string why_no_host(std::string_view name);

/// Where scripts/package.sh puts the package of a program that was built where this one was; empty: there is none.
std::string package_beside();

/// A host that answers, with a heddle that runs there.
struct RemoteHeddle {
  std::string host;
  std::string program;  ///< its path there
  std::string version;  ///< "0.1.0"
};
using SayLine = std::function<void(const std::string& sentence)>;

/// Asks the host what it is, and copies the package there unless it has it. Environment errors, a sentence with its remedy each: no ssh
/// here, no way to the host, no package, a package for other machines, no NVIDIA GPU there, no program that runs. After a stop the error
/// says nothing of use.
Result<RemoteHeddle> reach(const RemoteHost& host, std::stop_token stop, const SayLine& say);

/// A file that the words name; its name is of letters, digits, '_', '-', '.' and one '/' at most.
struct RemoteFile {
  std::string name, content;
  bool binary = false;
};

/// Runs it there with these words, in a folder of its own that has the files and goes with it, and HEDDLE_CUBINS is its folder "cubins".
/// Standard output is what came from heddle. It ends with the connection, from whichever side that is cut. Environment error: the
/// connection was lost.
Result<ChildResult> run_there(const RemoteHeddle& heddle, const std::vector<std::string>& words, const std::vector<RemoteFile>& files,
                              std::stop_token stop, const std::function<void(std::string_view line)>& error_line);

}  // namespace heddle::app
