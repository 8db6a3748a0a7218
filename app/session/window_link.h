// Windows of one kernel side by side: each is a process of its own. The one that opens another hands its project over, and both hear what
// the other has selected and which cycles it shows, through a socket that ends with either of them.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/session/commands.h"
#include "app/session/open_document.h"
#include "core/base/id.h"
#include "core/base/open_file.h"
#include "core/base/result.h"
#include "core/problem/problem.h"

namespace heddle::app {

class Projects;
class Solving;
class Texts;
struct Environment;

/// What one window follows the other in.
struct LinkedView {
  std::string kernel;                              ///< of another one nothing is followed
  std::optional<std::pair<Cycle, Cycle>> visible;  ///< cycles at the chart's edges
  std::vector<std::string> selection;              ///< ops
  bool operator==(const LinkedView&) const = default;
};

class WindowLink {
 public:
  /// `wake` is called from a thread of its own when there is something to take.
  WindowLink(Descriptor socket, std::function<void()> wake);
  ~WindowLink();
  WindowLink(const WindowLink&) = delete;
  WindowLink& operator=(const WindowLink&) = delete;

  /// False: it cannot take it now.
  bool send(const LinkedView& view) const;
  /// The newest that came since the last call.
  std::optional<LinkedView> take();
  /// The other window is gone.
  bool gone() const;

 private:
  void hear();

  Descriptor socket_;
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::optional<LinkedView> heard_;
  bool gone_ = false;
  std::thread thread_;
};

/// What another window begins with.
struct HandedOver {
  std::string project;  ///< the text of a project
  int number = 2;       ///< what it is called
  std::shared_ptr<Descriptor> link;
};

/// Starts this program again as another window; our end of the link. It does not end with us. Environment errors.
Result<Descriptor> open_another_window(const std::string& project, int number);

/// In main(), first of all: what the window that started this one has handed over; nothing where no window did. The process is then on its
/// own, and whoever started it need not wait.
std::optional<HandedOver> take_hand_over(int argc, char** argv);

/// Other windows of what is open: opened with the same project, followed in what they select and show.
class OtherWindows : SessionPart {
 public:
  OtherWindows(OpenDocument& document, Solving& solving, Texts& texts, Projects& projects, const Environment& environment)
      : SessionPart(document), solving_(solving), texts_(texts), projects_(projects), environment_(environment) {}

  void on(const OpenWindow& c);
  /// Where another window has opened this one: with what it has handed over.
  void begin(std::optional<HandedOver> given);
  bool pump();

  /// Empty when another window of it can be opened, with B in A's place if asked for, else why not.
  std::string why_no_window(bool baseline) const;
  /// 1 of the first window, while there are others; 0: this is the only one.
  int window_number() const { return links_.empty() ? 0 : number_; }

 private:
  LinkedView linked_view() const;
  void follow(const LinkedView& view);

  Solving& solving_;
  Texts& texts_;
  Projects& projects_;
  const Environment& environment_;
  std::vector<std::unique_ptr<WindowLink>> links_;
  int number_ = 1, last_ = 1;  ///< of this window; of the last that was opened from here
  LinkedView known_;           ///< by the others
  double quiet_until_ = 0;     ///< what changes before is what they have told
};

}  // namespace heddle::app
