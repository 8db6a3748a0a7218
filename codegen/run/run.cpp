// The parent's side: the plan through a file in memory, lines back through a pipe.
#include "codegen/run/run.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "codegen/run/child.h"
#include "core/base/clock.h"
#include "core/base/process.h"
#include "core/base/text_style.h"
#include "core/formats/measurement_json.h"

namespace heddle::codegen {
namespace {

constexpr std::size_t kLongestOutput = std::size_t{64} << 20;
constexpr std::size_t kErrorsShown = 300;

int nibble(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

std::vector<std::uint8_t> from_hex(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(nibble(text[i]) << 4 | (nibble(text[i + 1]) & 15)));
  return bytes;
}

/// What the child has said so far.
struct Story {
  RunResult result;
  bool ended = false;
  std::string doing = "starting";

  void hear(std::string_view line, const RunOptions& options) {
    if (line == "E") ended = true;
    if (line.size() < 2) return;
    const std::string_view rest = line.substr(2);
    if (line[0] == 'N') {
      doing = printable(rest);
      if (options.note) options.note(doing);
    } else if (line[0] == 'M') {
      if (auto found = parse_measurement(rest, "child"); found.ok()) result.found = std::move(*found);
    } else if (line[0] == 'R') {
      const std::size_t space = rest.find(' ');
      if (space != std::string_view::npos) result.records[std::string(rest.substr(0, space))] = from_hex(rest.substr(space + 1));
    }
  }
};

/// The last words of a child that died.
std::string last_line(std::string_view errors) {
  while (!errors.empty() && errors.back() == '\n') errors.remove_suffix(1);
  errors = errors.substr(errors.rfind('\n') + 1);
  return printable(errors.substr(0, kErrorsShown));
}

std::string file_text(int fd) {
  std::string text(4096, '\0');
  const off_t size = ::lseek(fd, 0, SEEK_END);
  const ssize_t count = ::pread(fd, text.data(), text.size(), size > 4096 ? size - 4096 : 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

}  // namespace

Result<RunResult> run_plan(const RunPlan& plan, const RunOptions& options) {
  const auto trouble = [](const char* what) {
    return Error::environment(fmt::format("no process can be started for the kernel: {} ({})", what, std::strerror(errno)));
  };
  const Descriptor request(::memfd_create("heddle-plan", MFD_CLOEXEC)), errors(::memfd_create("heddle-errors", MFD_CLOEXEC));
  if (!request.valid() || !errors.valid() || write_all(request.get(), plan_bytes(plan)) != 0 || ::lseek(request.get(), 0, SEEK_SET) != 0)
    return trouble("memory for the plan");
  std::optional<Pipe> pipe = make_pipe();
  if (!pipe) return trouble("pipe");
  Process child({{options.program, kChildCommand},
                 {{STDIN_FILENO, request.get()}, {STDOUT_FILENO, -1}, {STDERR_FILENO, errors.get()}, {kChildDescriptor, pipe->to.get()}},
                 false,
                 true});
  if (child.failure() != 0) return errno = child.failure(), trouble(options.program.c_str());
  pipe->to.close();

  Story story;
  story.result.found.kernel = plan.kernel;
  story.result.found.machine = plan.machine;
  std::string heard;
  bool hung = false;
  auto alive = Clock::now();
  const auto hear = [&](std::string_view piece) {
    alive = Clock::now();
    heard += piece;
    std::size_t at = 0;
    for (std::size_t end; (end = heard.find('\n', at)) != std::string::npos; at = end + 1)
      story.hear(std::string_view(heard).substr(at, end - at), options);
    heard.erase(0, at);
    if (heard.size() > kLongestOutput) heard.clear();
  };
  const auto go_on = [&] {
    hung = seconds_since(alive) > options.limit_seconds;
    story.result.cancelled = options.stop.stop_requested();
    return !hung && !story.result.cancelled && !story.ended;
  };
  listen({{&pipe->from, hear}}, go_on);
  if (hung || story.result.cancelled || story.ended) child.send(SIGKILL);  // one that has said everything may still hang in the driver
  const ProcessEnd end = child.wait();

  Measurement& found = story.result.found;
  if (story.ended || story.result.cancelled) return std::move(story.result);
  const std::string words = last_line(file_text(errors.get()));
  if (hung) {
    found.status = RunStatus::TimedOut;
    found.sentence =
        fmt::format("killed after {:g} s without a sign of life while {}: the kernel does not end", options.limit_seconds, story.doing);
  } else {
    found.status = RunStatus::Faulted;
    const std::string how = end.signal != 0 ? fmt::format("died of signal {} ({})", end.signal, ::strsignal(end.signal))
                                            : fmt::format("ended with code {}", end.code);
    found.sentence = fmt::format("the process that ran the kernel {} while {}{}", how, story.doing, words.empty() ? "" : ": " + words);
  }
  return std::move(story.result);
}

}  // namespace heddle::codegen
