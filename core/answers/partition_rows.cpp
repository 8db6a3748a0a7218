// Groups side by side.
#include "core/answers/partition_rows.h"

#include <algorithm>

#include "core/analysis/signature.h"
#include "core/base/text_style.h"

namespace heddle {

std::vector<PartitionRow> partition_rows(const Problem& problem, const Schedule& a, const Schedule& b, const Difference& difference) {
  std::vector<PartitionRow> rows(a.groups.size());
  std::vector<std::size_t> row_of_b(b.groups.size());
  for (std::size_t g = 0; g < a.groups.size(); ++g) rows[g].group = group_name(a, GroupId(g));
  for (std::size_t g = 0; g < b.groups.size(); ++g) {
    const std::string name = group_name(b, GroupId(g));
    const GroupId partner = difference.groups[g];
    row_of_b[g] = partner.valid() ? partner.index() : rows.size();
    if (!partner.valid())
      rows.push_back({name, {}, {}, {}});
    else if (rows[partner.index()].group != name)
      rows[partner.index()].group += " / " + name;
  }
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const OpId op{v};
    const std::size_t in_a = a.group(op).index(), in_b = row_of_b[b.group(op).index()];
    if (in_a == in_b) {
      rows[in_a].both.push_back(op);
    } else {
      rows[in_a].only_a.push_back(op);
      rows[in_b].only_b.push_back(op);
    }
  }
  std::erase_if(rows, [](const PartitionRow& r) { return r.both.empty() && r.only_a.empty() && r.only_b.empty(); });
  return rows;
}

std::string op_names(const Problem& problem, const std::vector<OpId>& ops) {
  if (ops.empty()) return "-";
  std::string text;
  for (const OpId op : ops) text += (text.empty() ? "" : ", ") + printable(problem.op(op).name);
  return text;
}

}  // namespace heddle
