// What is open, how it is shown, and what is said about it: what all parts of the session work on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/document.h"
#include "app/session/selection.h"
#include "app/session/settings.h"
#include "app/session/undo.h"
#include "app/session/view_state.h"
#include "core/base/result.h"

namespace heddle::app {

// The log: what was opened, solved, found and refused.
enum class LogLevel { Info, Good, Warning, Bad, Detail };

struct LogEntry {
  double seconds = 0;  ///< since the session began
  LogLevel level = LogLevel::Info;
  std::string text;
};

using Log = std::vector<LogEntry>;

/// An error that waits to be read.
struct ErrorReport {
  std::string title;  ///< "Cannot open kernel x.json"
  Error error;
};

class OpenDocument {
 public:
  /// `clock` says seconds; empty: the steady clock.
  explicit OpenDocument(std::function<double()> clock);

  Content content;
  Selection selection;
  UndoStack<Content> undo;
  std::uint64_t documents = 0;           ///< the newest Content::document
  std::map<std::string, Content> loops;  ///< of the open dump or Triton text, as they were left: what was found is there on the way back
  ViewState view;
  Settings settings;
  Log log;
  std::optional<ErrorReport> error;
  std::string last_line;       ///< of the command line, for what was done last
  std::uint64_t revision = 1;  ///< see `changed`

  Asked asked() const { return {content.problem, content.constraints}; }
  double now() const;  ///< seconds since the session began
  void say(LogLevel level, std::string text);
  void fail(std::string title, Error error);
  /// Into the log, the last one in view until it is dismissed.
  void warn_aloud(const std::vector<Fault>& warnings);
  /// Call after every change of the content: models are made again, and what is selected, pointed at and aligned is in the problem again.
  void changed();

 private:
  std::function<double()> clock_;
  double began_;
  std::string highlight_of_;  ///< name of the schedule that was shown when something was last pointed at
};

/// What every part of the session has at hand.
class SessionPart {
 protected:
  explicit SessionPart(OpenDocument& document)
      : document_(document), content_(document.content), view_(document.view), settings_(document.settings) {}

  double now() const { return document_.now(); }
  void say(LogLevel level, std::string text) const { document_.say(level, std::move(text)); }
  void fail(std::string title, Error error) const { document_.fail(std::move(title), std::move(error)); }
  void warn_aloud(const std::vector<Fault>& warnings) const { document_.warn_aloud(warnings); }
  void changed() const { document_.changed(); }

  OpenDocument& document_;
  Content& content_;
  ViewState& view_;
  Settings& settings_;
};

}  // namespace heddle::app
