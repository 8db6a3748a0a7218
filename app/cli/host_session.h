// A host of --on and what comes of asking it: what is said there is said here, and what goes wrong there has the exit code that it has
// here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/command/arguments.h"
#include "app/command/terminal.h"
#include "app/jobs/remote_host.h"
#include "core/base/result.h"

namespace heddle::app {

class HostSession {
 public:
  /// Pre: the arguments have --on.
  HostSession(const Arguments& arguments, const Terminal& terminal);

  /// False: it has been said why, and the exit code is in `code`.
  bool open(int& code);
  /// Its standard output, where it ended by itself; else it has been said why.
  std::optional<ChildResult> run(const std::vector<std::string>& words, const std::vector<RemoteFile>& files, int& code);
  /// Heddle there gave up: what it said is what this program says. The exit code.
  int passed_on(const ChildResult& child) const;

  const std::string& name() const { return host_.name; }
  const std::vector<std::string>& unsaid() const { return unsaid_; }  ///< lines that have not been printed

 private:
  void hear(const std::string& line);
  std::string said(const std::string& line) const;
  bool interrupted(int& code) const;

  const Terminal& terminal_;
  bool json_;
  RemoteHost host_;
  RemoteHeddle heddle_;
  std::vector<std::string> unsaid_;
};

/// Entries of the compiler's cache, and what made them, as files that a host takes for its own.
Result<std::vector<RemoteFile>> cubins_for_host(const std::vector<std::string>& entries, const std::string& compiler);

/// The exit code of options that go with --on and stand without it, which has been said; 0: there are none.
int refuse_without_host(const Arguments& arguments, const Terminal& terminal);

}  // namespace heddle::app
