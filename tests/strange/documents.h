// Documents that are valid and that nobody would write: kernels, machines, schedules and everything else that Heddle reads.
//
// They are built as JSON, from what the schemas say, and not with the structs and writers of the program: what a writer never writes is to
// be read too.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "tests/strange/dice.h"

namespace heddle::strange {

using Document = nlohmann::ordered_json;

Document machine_document(Dice& dice);

/// Ops that are only numbers, on this machine's units.
Document numbers_kernel(Dice& dice, const Document& machine);
/// Ops that compute something: loads, products, reductions, masks ... in shapes that fit each other.
Document executable_kernel(Dice& dice, const Document& machine);

/// Well-formed, seldom legal: groups without ops, depths and starts at the ends of their ranges, certificates of all words.
Document schedule_document(Dice& dice, const Problem& problem);
/// The same from a schedule that somebody found.
Document disguised_schedule(Dice& dice, Document schedule, const Problem& problem);

Document constraints_document(Dice& dice, const Problem& problem);
/// One demand in words.
std::string demand_sentence(Dice& dice, const Problem& problem);
/// One change of a number as --set takes it.
std::string change_text(Dice& dice, const Problem& problem);
Document project_document(Dice& dice, const Problem& problem, const std::string& kernel, const std::string& machine);

Document space_document(Dice& dice, const Document& kernel);
Document measurement_document(Dice& dice, const Problem& problem);
/// JSON Lines of cheap jobs on the named files.
std::string job_lines(Dice& dice, const std::string& kernel, const std::string& machine, const std::vector<std::string>& schedules);
/// The results of as many shards, one text each.
std::vector<std::string> result_lines(Dice& dice);
/// A history of heddle tune about the named files, true in form only.
std::string history_lines(Dice& dice, const Document& space, const std::string& kernel, const std::string& machine);

/// What other compilers dump, in every format; `solution`: an answer to it, where it is a joint-solver problem.
struct DumpDocument {
  Document dump;
  Document solution;
};
DumpDocument dump_document(Dice& dice);

/// Spaces, order of members, members of others: what must make no difference to a reader.
std::string written(Dice& dice, const Document& document);

}  // namespace heddle::strange
