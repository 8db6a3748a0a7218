// What is open and on screen, as files for other programs.
#pragma once

#include <string>

#include "app/session/commands.h"
#include "app/session/open_document.h"
#include "core/base/result.h"

namespace heddle {
struct Problem;  // core/problem/problem.h
}

namespace heddle::app {

class Showing;
class SourceFiles;

class Exports : SessionPart {
 public:
  Exports(OpenDocument& document, const SourceFiles& files, const Showing& showing)
      : SessionPart(document), files_(files), showing_(showing) {}

  void on(const Export& c);
  void on(const SaveSchedule& c);
  void on(const SaveConstraints& c);
  void on(const SaveLayout& c);
  /// What came of a file, or of a picture that the window was asked for.
  void note_exported(const std::string& path, const Result<Ok>& result);

 private:
  void export_for_compiler(const Export& c);
  void refuse_export(const std::string& path, const Error& error);
  /// The problem as files say it: texts that were edited and are in no file count as changes.
  Problem problem_to_write() const;

  const SourceFiles& files_;
  const Showing& showing_;
};

}  // namespace heddle::app
