// What stands between the program and a terminal: text goes through without its control characters, whichever name of whatever file they
// came from. So no message has to think of it.
#pragma once

#include <memory>
#include <ostream>

namespace heddle::app {

class PrintableStream final : public std::ostream {
 public:
  /// What is ours and passes: colours; going back to the begin of a line.
  struct Keeps {
    bool colours, redrawing;
  };
  /// A `screen` shows all that it gets, data too.
  explicit PrintableStream(std::ostream& to, Keeps keeps = {}, bool screen = false);
  ~PrintableStream() override;

  /// For what is a file of somebody's rather than text to be read: every byte as it is, unless it goes to a screen.
  std::ostream& data();

 private:
  class Buffer;
  std::unique_ptr<Buffer> buffer_;
  std::ostream& to_;
  bool screen_;
};

}  // namespace heddle::app
