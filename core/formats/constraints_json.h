// Constraint files: heddle.constraints/1, what a user demands of a schedule and of layouts, and which numbers to change first
// (core/formats/changes_json.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_reader.h"
#include "core/base/result.h"
#include "core/layout/choices.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"
#include "core/schedule/constraint_text.h"
#include "core/schedule/constraints.h"

namespace heddle {

Json constraints_schema();

/// Read against the problem they are for, so that misspelt ops and channels are faults with a guess. The file's changes are
/// not looked at: the problem is made with them already (read_changes). A constraint
/// without a name gets one that says what it demands ("pin S at 128").
Result<Constraints> read_constraints(const std::string& path, const Problem& problem, std::vector<Fault>* warnings = nullptr);
Result<Constraints> parse_constraints(std::string_view text, const std::string& file_name, const Problem& problem,
                                      std::vector<Fault>* warnings = nullptr);

/// The list "constraints" of a file of another kind.
Constraints read_constraints_from(ObjectReader& root, const Problem& problem);
Json constraints_json(const Constraints& constraints);
Json constraints_list_schema(Json& definitions);

/// The file's text. With the `original` text it was read from, members that Heddle does not know are kept.
std::string constraints_text(const Constraints& constraints, const Changes& changes = {}, std::string_view original = {},
                             const LayoutChoices& choices = {});

/// Only how values are to lie and in which instructions ops are to be written: the problem is made with them already. What exists and what
/// fits is for resolve() to say.
Result<LayoutChoices> read_layout_demands(const std::string& path, std::vector<Fault>* warnings = nullptr);

}  // namespace heddle
