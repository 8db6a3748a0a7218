// What the readers of several dump formats share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/json_reader.h"
#include "core/dump/dump.h"
#include "core/dump/ops.h"

namespace heddle::dump {

/// No cycle or size in a dump is meant to be larger; larger ones are faults.
inline constexpr std::int64_t kMostCycles = std::int64_t{1} << 31;
/// As many ops as a loop body may have.
inline constexpr std::size_t kMostNodes = 2000;

/// The member `ops`: operands and types by the file's own ids, which are forgotten afterwards.
struct ReadOps {
  OpTable table;
  std::map<std::string, std::size_t, std::less<>> index;
};
ReadOps read_ops(ObjectReader& root);

/// `null` or absent: nothing.
std::optional<std::int64_t> maybe_integer(ObjectReader& object, const char* key, std::int64_t low, std::int64_t high);

/// Nodes and edges as ddg-0.1, curated-ddg-0.2 and schedule_graph write them. `node_ops` gets the op of each node.
void read_graph(ObjectReader& graph, const ReadOps& ops, DumpLoop& loop, std::vector<int>& node_ops);

/// Node ids to indices, with a fault where an id is unknown.
std::optional<std::size_t> node_at(const DumpLoop& loop, const Cursor& at, std::int64_t id);

/// Trip counts and bounds on II, as far as they are there.
void read_loop_facts(ObjectReader& object, DumpLoop& loop);

/// Dependences that close within one iteration are faults; beyond them only names are left to find.
void finish_loop(DumpLoop& loop, const ReadOps& ops, const std::vector<int>& node_ops, ReadLog& log);

void read_joint_problem(ObjectReader& root, Dump& dump);
void read_schedule_document(ObjectReader& root, Dump& dump);

}  // namespace heddle::dump
