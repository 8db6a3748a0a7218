// A compiler's dump as the open document: a loop of it as kernel and machine, its stored schedules as rows of the list.
#pragma once

#include <memory>
#include <string>

#include "app/session/commands.h"
#include "app/session/edits.h"
#include "core/base/result.h"
#include "core/schedule/constraints.h"

namespace heddle::app {

struct DumpSource;

class DumpState : Opener {
 public:
  explicit DumpState(Edits& edits) : Opener(edits) {}

  void on(const OpenDump& c);
  void on(const ShowLoop& c);
  void on(const DemandEmitterRules& c);
  /// `solve`: where it has no schedule of its own.
  void open(const std::string& name, bool solve);
  /// While a dump is open.
  void refuse_machine(const std::string& name);

  /// Empty when the shown schedule can go back into the compiler's dump in this form, else why not.
  std::string why_no_dump(ExportKind kind) const;
  Result<std::string> dump_text(ExportKind kind) const;
  /// Demands of that compiler's emitter that are not in force yet.
  Constraints open_emitter_rules() const;

 private:
  void show(std::shared_ptr<const DumpSource> source, const std::string& what);
  /// Another file's schedules of the loop that is open become rows of the list; false when its ops are others.
  bool add_schedules(const DumpSource& source);
};

}  // namespace heddle::app
