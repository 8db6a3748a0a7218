// An answer that contradicts itself takes no part in the comparison of the answers to one question. Of the others those are kept that can
// refute most: the least schedule, the least proved II and the greatest.
#include "app/batch/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "core/base/hash.h"

namespace heddle::app {
namespace {

/// Options that do not change what the answer is, only how it is looked for.
constexpr std::array<std::string_view, 5> kSearchOptions{"seed", "timeout", "quiet", "verbose", "no-store"};

const Json* member(const Json* object, const char* key) { return object ? object->find(key) : nullptr; }

std::optional<std::int64_t> whole_of(const Json* value) {
  return value && value->integer() ? std::optional(*value->integer()) : std::nullopt;
}

std::string word_at(const Json* value) { return value && value->string() ? *value->string() : std::string(); }

/// Only "solve" asks for the least II and nothing else.
std::uint64_t question_of(const Json& line, const Json& answer) {
  const std::string hash = word_at(answer.find("problem_hash"));
  if (hash.empty() || word_at(line.find("do")) != "solve") return 0;
  Hash question;
  question.add(word_at(line.find("batch"))).add(hash);
  if (const Json* options = line.find("options"); options && options->members())
    for (const JsonMember& option : *options->members())
      if (std::find(kSearchOptions.begin(), kSearchOptions.end(), option.key) == kSearchOptions.end())
        question.add(option.key).add(option.value.line());
  return question.value();
}

std::string contradiction_in(const Claim& claim, const Json& answer, const std::string& job_status) {
  const std::string status = word_at(answer.find("status"));
  if (job_status == "proved" && status != "optimal") return fmt::format("it says proved, but its answer is {}", status);
  if (claim.infeasible && claim.ii) return fmt::format("it says infeasible, but has a schedule of II {}", *claim.ii);
  if (claim.optimal && !claim.ii) return "it says optimal, but has no schedule";
  if (!claim.ii) return {};
  for (const char* key : {"lower_bound", "res_mii", "rec_mii", "issue_mii"})
    if (const auto bound = whole_of(answer.find(key)); bound && *claim.ii < *bound)
      return fmt::format("II {} is below its own {} of {}", *claim.ii, key, *bound);
  if (claim.optimal && claim.bound && *claim.ii != *claim.bound)
    return fmt::format("it says optimal, but II {} is above its own lower_bound of {}", *claim.ii, *claim.bound);
  if (const Json* objectives = answer.find("objectives"); objectives && objectives->items())
    for (const Json& objective : *objectives->items())
      if (const auto value = whole_of(objective.find("value")); value && word_at(objective.find("name")) == "ii" && *value != *claim.ii)
        return fmt::format("its II is {}, and {} among its objectives", *claim.ii, *value);
  const Json* valid = member(answer.find("checker"), "valid");
  if (claim.optimal && valid && valid->boolean() && !*valid->boolean()) return "it says optimal of a schedule that breaks rules";
  return {};
}

/// The sentence against `claim` that `other`, a schedule for the same question, is; empty: they agree.
std::string refuted_by(const Claim& claim, const Claim& other) {
  if (claim.optimal && other.optimal && *claim.ii != *other.ii)
    return fmt::format("II {} is proved, it says; {} says the same of {}", *claim.ii, other.where, *other.ii);
  if (claim.infeasible) return fmt::format("it says infeasible, but {} has a schedule of II {}", other.where, *other.ii);
  if (claim.bound && *claim.bound > *other.ii)
    return fmt::format("II is at least {}, it says; {} has a schedule of {}", *claim.bound, other.where, *other.ii);
  return {};
}

}  // namespace

Claim claim_of(const Json& line) {
  Claim claim;
  if (const auto job = whole_of(line.find("job"))) claim.where = fmt::format("job {}", *job);
  const Json* answer = line.find("result");
  const std::string status = word_at(member(answer, "status"));
  if (!answer || !answer->is_object() || status.empty()) return claim;
  claim.ii = whole_of(answer->find("ii"));
  claim.bound = whole_of(answer->find("lower_bound"));
  // An answer about many schedules (alternatives, pareto) is no claim about one.
  const bool of_one = answer->find("ii") != nullptr && answer->find("lower_bound") != nullptr;
  if (!of_one) return claim;
  claim.optimal = status == "optimal";
  claim.infeasible = status == "infeasible";
  claim.against_itself = contradiction_in(claim, *answer, word_at(line.find("status")));
  if (claim.against_itself.empty()) claim.question = question_of(line, *answer);
  return claim;
}

std::vector<std::string> refutations(const std::vector<Claim>& claims) {
  // Of each question the answers that can refute most: the least schedule, and the proofs that part farthest.
  struct Answers {
    const Claim* least = nullptr;
    const Claim* least_proved = nullptr;
    const Claim* most_proved = nullptr;
  };
  std::map<std::uint64_t, Answers> answers;
  for (const Claim& claim : claims) {
    if (claim.question == 0 || !claim.ii) continue;
    Answers& known = answers[claim.question];
    if (!known.least || *claim.ii < *known.least->ii) known.least = &claim;
    if (!claim.optimal) continue;
    if (!known.least_proved || *claim.ii < *known.least_proved->ii) known.least_proved = &claim;
    if (!known.most_proved || *claim.ii > *known.most_proved->ii) known.most_proved = &claim;
  }
  std::vector<std::string> sentences;
  for (const Claim& claim : claims) {
    std::string& sentence = sentences.emplace_back(claim.against_itself);
    const auto found = answers.find(claim.question);
    if (!sentence.empty() || found == answers.end()) continue;
    for (const Claim* other : {found->second.least_proved, found->second.most_proved, found->second.least})
      if (sentence.empty() && other && other != &claim) sentence = refuted_by(claim, *other);
  }
  return sentences;
}

}  // namespace heddle::app
