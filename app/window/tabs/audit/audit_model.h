// The audit of the open dump, or of the open Triton kernel, ready to be drawn: findings with what each of them points at. Of a kernel that
// no compiler dumped, what the checker and the sustainable period say of the shown schedule, in the same form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session/command.h"
#include "app/session/session.h"
#include "core/dump/audit_report.h"

namespace heddle::app {

struct AuditLine {
  std::string topic;  ///< empty: a detail of the line above
  RowMark weight = RowMark::Fine;
  std::string text;
  Highlight shown;  ///< without a `why`: it points at nothing
  bool detail() const { return topic.empty(); }
};

/// Another loop of the file, in one line.
struct AuditOtherLoop {
  std::int64_t id = 0;
  std::string text;             ///< "loop 1: 2 findings"
  std::optional<Command> show;  ///< none: it cannot be shown
};

struct AuditModel {
  bool of_dump = false;  ///< or of a Triton text
  std::string headline, facts;
  std::string verdict;  ///< what both readings say, as the header does
  std::string note;     ///< which schedule it speaks of, where that is not the one on screen
  std::vector<AuditLine> lines;
  std::vector<AuditOtherLoop> others;
  std::optional<std::size_t> stored;  ///< row of the list that it speaks of
};

AuditModel build_audit(const Session& session);

/// For pasting: tab-separated, and Markdown as `heddle audit --markdown` prints it, with what was solved here.
std::string audit_tsv(const AuditModel& model);
std::string audit_markdown_of(const Session& session);

}  // namespace heddle::app
