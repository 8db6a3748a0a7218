// An audit in words: one screen of text, Markdown for a pull request, and the rows that both are made of.
#pragma once

#include <string>
#include <vector>

#include "core/base/report_rows.h"
#include "core/base/text_style.h"
#include "core/dump/audit.h"

namespace heddle {

/// One line of a row, and what it speaks of.
struct AuditDetail {
  AuditDetail(std::string words, std::vector<std::size_t> of = {}) : text(std::move(words)), nodes(std::move(of)) {}

  std::string text;
  std::vector<std::size_t> nodes;    ///< indices into the loop's nodes
  std::vector<std::int64_t> groups;  ///< of the file
  std::string unit;
};

struct AuditRow {
  std::string topic;  ///< "dependences", "period" ...
  RowMark weight = RowMark::Fine;
  std::string sentence;
  std::vector<AuditDetail> details;  ///< all of them; text and Markdown show the first few
  std::vector<std::size_t> nodes;    ///< to highlight: indices into the loop's nodes
};

/// "fa_fwd_kernel_nows, loop 0 of 1"
std::string audit_title(const dump::Dump& dump, const dump::DumpLoopAudit& loop);
/// "31 ops in 6 groups", "II 1325 stated" ...
std::vector<std::string> audit_facts(const dump::Dump& dump, const dump::DumpLoopAudit& loop);
std::vector<AuditRow> audit_rows(const dump::Dump& dump, const dump::DumpLoopAudit& loop);
/// What concerns all loops together; empty for a file without buffers.
std::vector<AuditRow> audit_rows(const dump::Dump& dump, const dump::DumpAudit& audit);

/// One line: what is wrong, counted.
std::string audit_headline(const dump::Dump& dump, const dump::DumpAudit& audit);
std::string audit_text(const dump::Dump& dump, const dump::DumpAudit& audit, const TextStyle& style);
std::string audit_markdown(const dump::Dump& dump, const dump::DumpAudit& audit);

}  // namespace heddle
