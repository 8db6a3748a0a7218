// Lines are kept as they are: what was written once is not written differently here.
#include "app/batch/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "app/batch/job_file.h"
#include "core/io/json_reader.h"

namespace heddle::app {
namespace {

struct PlacedLine {
  std::string_view text;
  std::string where;
};

/// "3, 5 to 9 and 12"; at most `most` parts.
std::string ranges_of(const std::vector<std::size_t>& numbers, std::size_t most) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    if (parts.size() == most) {
      parts.push_back("...");
      break;
    }
    parts.push_back(j == i ? fmt::format("{}", numbers[i]) : fmt::format("{} to {}", numbers[i], numbers[j]));
    i = j + 1;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Result<Merged> merge_results(const std::vector<std::pair<std::string, std::string>>& parts) {
  Merged merged;
  Error error;
  std::map<std::int64_t, PlacedLine> lines;
  std::string batch, batch_where;
  for (const auto& [name, text] : parts) {
    int number = 0;
    for (std::string_view rest = text; !rest.empty();) {
      ++number;
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      const bool whole = end < rest.size();
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const std::string where = fmt::format("{}:{}", name, number);
      const Result<Json> json = parse_json(line, where);
      if (!json || !whole) {
        if (json) error.faults.push_back({where, {}, "the line is not whole", "the file was cut off"});
        if (!json) error.faults.insert(error.faults.end(), json.error().faults.begin(), json.error().faults.end());
        continue;
      }
      const Json *job = json->find("job"), *of = json->find("of"), *its = json->find("batch"), *status = json->find("status");
      if (!job || !job->integer() || !of || !of->integer() || !its || !its->string() || !status || *job->integer() < 1 || *job->integer() > *of->integer() ||
          *of->integer() > static_cast<std::int64_t>(kMostJobs)) {
        error.faults.push_back({where, {}, "this is no line of a results file of heddle batch (heddle.result/1)", {}});
        continue;
      }
      if (batch.empty()) {
        batch = *its->string();
        batch_where = where;
        merged.of = static_cast<std::size_t>(*of->integer());
      }
      if (*its->string() != batch || static_cast<std::size_t>(*of->integer()) != merged.of) {
        merged.contradictions.push_back({where, {}, fmt::format("belongs to another batch than {}", batch_where), "the job file, a kernel, a machine or Heddle was changed in between"});
        continue;
      }
      const auto [first, fresh] = lines.try_emplace(*job->integer(), PlacedLine{line, where});
      if (fresh) continue;
      if (first->second.text == line)
        merged.repeated.push_back({where, {}, fmt::format("job {} is in {} already, with the same result", *job->integer(), first->second.where), {}});
      else
        merged.contradictions.push_back({where, {}, fmt::format("job {} has another result in {}", *job->integer(), first->second.where), {}});
    }
  }
  cut_off(error.faults, "faults");
  if (!error.faults.empty()) return error;
  std::vector<std::size_t> absent;
  for (std::size_t job = 1; job <= merged.of; ++job)
    if (!lines.count(static_cast<std::int64_t>(job))) absent.push_back(job);
  if (!absent.empty())
    merged.missing.push_back({"", {}, fmt::format("{} of {} jobs {} in none of the files: {}", absent.size(), merged.of, absent.size() == 1 ? "is" : "are", ranges_of(absent, 20)), {}});
  for (const auto& [job, line] : lines) merged.text.append(line.text).append("\n");
  merged.jobs = lines.size();
  cut_off(merged.contradictions, "contradictions");
  cut_off(merged.repeated, "repeated lines");
  return merged;
}

}  // namespace heddle::app
