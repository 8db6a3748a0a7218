// The texts of kernel and machine: edited, saved, and read again when their files change on disk. A text is what is shown as soon as it
// can be read and scheduled; until then the last one that could stays in view.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "app/session/commands.h"
#include "app/session/document.h"
#include "app/session/edits.h"
#include "app/session/source_text.h"

namespace heddle {
struct Project;  // core/library/project_json.h
}

namespace heddle::app {

class Questions;

/// The files that texts of kernels and machines come from, as they were last seen on disk.
class SourceFiles {
 public:
  struct OnDisk {
    std::string text;
    std::filesystem::file_time_type changed;
  };

  /// Gives what was opened its texts; those of `now` stay with what stays.
  void attach(Content& next, const Content& now);
  /// Null: it was never looked at.
  OnDisk* seen(const std::string& path);
  const OnDisk* seen(const std::string& path) const { return const_cast<SourceFiles*>(this)->seen(path); }
  void note(const std::string& path, const std::string& text);
  /// When it was last changed on disk; the least there is: it is not there.
  static std::filesystem::file_time_type time_of(const std::string& path);

  /// The user changed it and its file does not hold it.
  bool unsaved(const Content& content, SourceOf of) const;
  /// Why another program cannot read what is open: a text is in no file. Empty when it can.
  std::string why_no_program(const Content& content) const;

 private:
  std::map<std::string, OnDisk> seen_;  ///< by path
};

/// "kernel", "machine"
const char* word_of(SourceOf of);
/// Why what is shown may not be what the texts say: "the kernel's text has 2 faults"; empty when it is.
std::string text_trouble(const Content& content);

class Texts : Opener {
 public:
  Texts(Edits& edits, Questions& questions) : Opener(edits), questions_(questions) {}

  void on(const NewKernel& c);
  void on(const EditSource& c);
  void on(const SaveSource& c);
  void on(const ReadSourceAgain& c);
  void on(const StartSolve& c);  ///< what is solved is what is there
  /// Reads again what has changed on disk, and solves what was typed; true when anything changed.
  bool pump();

  /// The text of what is open; null: nothing is, or a compiler's dump.
  const SourceText* text_of(SourceOf of) const;
  /// The user changed it and its file does not hold it.
  bool text_unsaved(SourceOf of) const { return files_.unsaved(document_.content, of); }
  /// Empty when it can be edited, else why not.
  std::string why_no_edit(SourceOf of) const;
  /// Why what is shown may not be what the texts say: "the kernel's text has 2 faults"; empty when it is.
  std::string text_trouble() const { return app::text_trouble(document_.content); }

  void add_texts(Project& project) const;
  /// What the text says, where it can be read and scheduled, takes the place of what is shown; else its faults are kept with it.
  void take_text(SourceOf of, const std::string& text, const Content& before);

 private:
  /// The change of a text that may still be going on.
  struct Typing {
    SourceOf of = SourceOf::Kernel;
    Content before;
    std::size_t step = 0;  ///< how many changes of the document there had been with it
    double last = 0;
    bool solve = false;  ///< what it says is not solved yet
  };
  bool look_at_files();

  Questions& questions_;
  double looked_ = 0;  ///< when files were last compared with the disk
  std::optional<Typing> typing_;
};

}  // namespace heddle::app
