// Lines are kept as they are: what was written once is not written differently here.
#include "app/batch/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/batch/job_file.h"
#include "core/base/json_reader.h"

namespace heddle::app {
namespace {

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

/// What is kept of a list that may grow without end is what anybody reads of it.
void keep_some(std::vector<Fault>& list, std::size_t& more, Fault fault) {
  if (list.size() < kMostFaults)
    list.push_back(std::move(fault));
  else
    ++more;
}

void count_rest(std::vector<Fault>& list, std::size_t more, const char* what) {
  if (more > 0) list.push_back({list.front().file, {}, fmt::format("and {} more {}", more, what), {}});
}

}  // namespace

void Merger::fault(const std::string& where, std::string message, std::string hint) {
  error_.faults.push_back({where, {}, std::move(message), std::move(hint)});
}

bool Merger::take(const std::string& where, std::string_view line, bool whole) {
  if (error_.faults.size() > kMostFaults) return false;
  const Result<Json> json = parse_json(line, where);
  if (!json || !whole) {
    if (json) fault(where, "the line is not whole", "the file was cut off");
    if (!json) error_.faults.insert(error_.faults.end(), json.error().faults.begin(), json.error().faults.end());
    return true;
  }
  const Json *job = json->find("job"), *of = json->find("of"), *its = json->find("batch"), *status = json->find("status");
  if (!job || !job->integer() || !of || !of->integer() || !its || !its->string() || !status || *job->integer() < 1 ||
      *job->integer() > *of->integer() || *of->integer() > static_cast<std::int64_t>(kMostJobs)) {
    fault(where, "this is no line of a results file of heddle batch (heddle.result/1)");
    return true;
  }
  if (batch_.empty()) {
    batch_ = *its->string();
    batch_where_ = where;
    merged_.of = static_cast<std::size_t>(*of->integer());
  }
  if (*its->string() != batch_ || static_cast<std::size_t>(*of->integer()) != merged_.of) {
    keep_some(merged_.contradictions, more_contradictions_,
              {where,
               {},
               fmt::format("belongs to another batch than {}", batch_where_),
               "the job file, a kernel, a machine or Heddle was changed in between"});
    return true;
  }
  if (const auto first = lines_.find(*job->integer()); first == lines_.end())
    lines_.emplace(*job->integer(), PlacedLine{std::string(line), where, claim_of(*json)});
  else if (first->second.text == line)
    keep_some(merged_.repeated, more_repeated_,
              {where, {}, fmt::format("job {} is in {} already, with the same result", *job->integer(), first->second.where), {}});
  else
    keep_some(merged_.contradictions, more_contradictions_,
              {where, {}, fmt::format("job {} has another result in {}", *job->integer(), first->second.where), {}});
  return true;
}

Result<Merged> Merger::end() {
  cut_off(error_.faults, "faults");
  if (!error_.faults.empty()) return error_;
  std::vector<Claim> claims;
  for (const auto& [job, line] : lines_) {
    claims.push_back(line.claim);
    claims.back().where = line.where;
  }
  const std::vector<std::string> against = refutations(claims);
  std::size_t at = 0;
  std::erase_if(lines_, [&](const auto& entry) {
    const std::string& why = against[at++];
    if (!why.empty()) merged_.set_aside.push_back({entry.second.where, {}, "set aside: " + why, {}});
    return !why.empty();
  });
  std::vector<std::size_t> absent;
  for (std::size_t job = 1; job <= merged_.of; ++job)
    if (!lines_.count(static_cast<std::int64_t>(job))) absent.push_back(job);
  if (merged_.of == 0) merged_.missing.push_back({"", {}, "there is no result in any of the files", {}});
  if (!absent.empty())
    merged_.missing.push_back(
        {"",
         {},
         fmt::format("{} of {} jobs {} in none of the files{}: {}", absent.size(), merged_.of, absent.size() == 1 ? "is" : "are",
                     merged_.set_aside.empty() ? "" : " or set aside", ranges_of(absent, 20)),
         {}});
  for (const auto& [job, line] : lines_) merged_.text.append(line.text).append("\n");
  merged_.jobs = lines_.size();
  count_rest(merged_.contradictions, more_contradictions_, "contradictions");
  count_rest(merged_.repeated, more_repeated_, "repeated lines");
  return std::move(merged_);
}

}  // namespace heddle::app
