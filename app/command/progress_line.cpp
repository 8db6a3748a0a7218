#include "app/command/progress_line.h"

#include <fmt/format.h>

#include "core/base/text_style.h"

namespace heddle::app {

ProgressLine::ProgressLine(const Terminal& terminal) : terminal_(terminal) {
  if (terminal.err_is_tty && !terminal.quiet) ticker_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
}

ProgressLine::~ProgressLine() {
  if (!ticker_.joinable()) return;
  ticker_.request_stop();
  ticker_.join();
  clear();
}

void ProgressLine::show(std::vector<std::string> facts) {
  for (std::string& fact : facts) fact = printable(fact);
  const std::lock_guard lock(mutex_);
  facts_ = std::move(facts);
}

void ProgressLine::say(const std::string& line) {
  if (terminal_.verbose) announce(line);
}

void ProgressLine::announce(const std::string& line) {
  const std::lock_guard lock(mutex_);
  clear();
  terminal_.note(line);
}

void ProgressLine::tick(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, stop, std::chrono::milliseconds(100), [&] { return stop.stop_requested(); })) {
    clear();
    std::vector<std::string> facts = facts_;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
    facts.push_back(fmt::format("{:.1f} s", elapsed.count()));
    terminal_.err << join_facts(facts, terminal_.style) << std::flush;
    shown_ = true;
  }
}

void ProgressLine::clear() {
  if (shown_) terminal_.err << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace heddle::app
