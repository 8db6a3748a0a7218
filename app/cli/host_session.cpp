#include "app/cli/host_session.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "app/cli/remote_run.h"
#include "app/command/called.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "codegen/compile/compile.h"
#include "core/base/atomic_file.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMostUnsaid = 10000;  // lines

bool is_ours(const std::string& line) { return line.starts_with("heddle: "); }

}  // namespace

HostSession::HostSession(const Arguments& arguments, const Terminal& terminal)
    : terminal_(terminal),
      json_(arguments.has("--json")),
      host_{*arguments.text("--on"), arguments.text("--remote-program").value_or(""), arguments.text("--package").value_or("")} {}

bool HostSession::open(int& code) {
  const InterruptScope interrupt;
  auto found = reach(host_, interrupt.token(), [&](const std::string& text) { terminal_.note(text); });
  if (interrupt.interrupted()) return interrupted(code);
  if (found.ok()) {
    heddle_ = std::move(*found);
    return true;
  }
  code = report(terminal_, found.error(), json_);
  return false;
}

std::optional<ChildResult> HostSession::run(const std::vector<std::string>& words, const std::vector<RemoteFile>& files, int& code) {
  const InterruptScope interrupt;
  auto child = run_there(heddle_, words, files, interrupt.token(), [&](std::string_view line) { hear(printable(line)); });
  if (interrupt.interrupted()) {
    interrupted(code);
    return std::nullopt;
  }
  if (child.ok()) return std::move(*child);
  code = report(terminal_, child.error(), json_);
  return std::nullopt;
}

int HostSession::passed_on(const ChildResult& child) const {
  for (const std::string& line : unsaid_) terminal_.err << said(line) << "\n";
  if (json_) terminal_.out << child.out;
  if (child.code > kDone && child.code <= kKernelFailed) return child.code;
  terminal_.complain(fmt::format("heddle on {} ended with code {} and no measurement", host_.name, child.code));
  return kEnvironment;
}

/// Lines of heddle there are as good as ours; others are ssh's, or the login's, and matter where nothing comes of it.
void HostSession::hear(const std::string& line) {
  if (line.find(kWithoutGpu) != std::string::npos) return;
  if (terminal_.quiet || !(is_ours(line) || terminal_.verbose)) {
    if (unsaid_.size() < kMostUnsaid) unsaid_.push_back(line);
  } else {
    terminal_.err << said(line) << "\n" << std::flush;
  }
}

std::string HostSession::said(const std::string& line) const {
  return is_ours(line) ? as_called(line) : fmt::format("heddle: {}: {}", host_.name, line);
}

bool HostSession::interrupted(int& code) const {
  terminal_.complain("interrupted");
  code = kInterrupted;
  return false;
}

Result<std::vector<RemoteFile>> cubins_for_host(const std::vector<std::string>& entries, const std::string& compiler) {
  std::vector<RemoteFile> files{{"cubins/compiler", compiler + "\n"}};
  for (const std::string& entry : std::set<std::string>(entries.begin(), entries.end()))
    for (const char* ending : codegen::kEntryEndings) {
      auto content = read_file(entry + ending);
      if (!content.ok()) return content.error();
      files.push_back({"cubins" + entry.substr(entry.rfind('/')) + ending, *std::move(content), true});
    }
  return files;
}

int refuse_without_host(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.has("--on")) return kDone;
  for (const char* flag : {"--package", "--remote-program"})
    if (arguments.has(flag)) return refuse(terminal, fmt::format("{} goes with --on HOST", flag), arguments.has("--json"));
  return kDone;
}

}  // namespace heddle::app
