#include "app/ask/family.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "app/command/option_words.h"
#include "solver/questions/kernel_set.h"
#include "solver/questions/kernel_set_members.h"
#include "solver/search/objectives.h"

namespace heddle::app {
namespace {

/// Those named come first, in the order given.
std::vector<solver::Objective> in_order(const std::vector<solver::Objective>& all, const std::vector<std::string>& named) {
  std::vector<solver::Objective> order;
  const auto add = [&](solver::Objective o) {
    if (std::find(order.begin(), order.end(), o) == order.end()) order.push_back(o);
  };
  for (const std::string& name : named)
    for (const solver::Objective o : all)
      if (solver::to_string(o) == name) add(o);
  std::for_each(all.begin(), all.end(), add);
  return order;
}

solver::KernelSetRequest family_request(std::vector<KernelSetMember> members, const FamilyOptions& options, const SearchLimits& limits) {
  solver::KernelSetRequest request;
  request.members = std::move(members);
  request.timeout_seconds = limits.timeout_seconds;
  request.member_seconds = options.member_seconds;
  request.seed = limits.seed;
  request.max_stages = limits.max_stages;
  if (const auto stages = options.most_stages) {
    UserConstraint cap;
    cap.name = fmt::format("--max-stages {}", *stages);
    cap.kind = ConstraintKind::MaxStages;
    cap.high = *stages;
    request.constraints.push_back(std::move(cap));
  }
  request.prune = !options.exhaustive;
  request.jobs = options.jobs;
  request.objectives = in_order(request.objectives, options.objectives);
  request.least_traffic = std::find(options.objectives.begin(), options.objectives.end(), "traffic") != options.objectives.end();
  return request;
}

}  // namespace

Result<KernelSetSpec> family_of(const Subject& subject, const std::vector<std::string>& vary) {
  KernelSetSpec spec;
  spec.each = subject.instance.spec();
  spec.kernels.push_back(spec.each.kernel);
  std::erase_if(spec.each.changes, [](const Change& change) { return !change.enabled; });
  Error error;
  for (const std::string& text : vary) {
    Result<Variation> v = parse_variation(text);
    if (!v) {
      error.faults.insert(error.faults.end(), v.error().faults.begin(), v.error().faults.end());
      continue;
    }
    if (v->kind == Variation::Kind::Param) spec.each.params.erase(v->name);  // it varies, whatever it is set to
    spec.vary.push_back(*std::move(v));
  }
  if (!error.faults.empty()) return in_options(error);
  return spec;
}

Result<KernelSetAnswer> ask_family(const KernelSetSpec& spec, const FamilyOptions& options, const SearchLimits& limits,
                                   std::stop_token stop, const Listener<KernelSetAnswer>& listener) {
  Result<std::vector<KernelSetMember>> members = kernel_set_members(spec, stop);
  if (!members) return members.error();
  // Whoever keeps a partial answer copies all members: of a large family not after each.
  const std::size_t step = std::max<std::size_t>(1, members->size() / 32);
  return solver::solve_kernel_set(family_request(*std::move(members), options, limits), stop, [&](const solver::KernelSetProgress& p) {
    const KernelSetMember& m = p.so_far.members[p.member];
    News news{.doing = fmt::format("{} of {} members settled, {}", p.done, p.total, m.label),
              .facts = {fmt::format("{} of {} members", p.done, p.total), m.label}};
    if (p.decided) news.line = fmt::format("{}: {}", m.label, member_facts(m, listener.style));
    news.early = !m.pruned;
    listener.tell(news, p.decided && p.done % step == 0 ? &p.so_far : nullptr);
  });
}

Ended ended(const KernelSetAnswer& family) {
  if (family.cancelled && !(family.complete && family.ties_settled)) return Ending::Interrupted;
  if (family.best.empty()) return family.complete ? Ending::Negative : Ending::NoProof;
  return family.best.front().proved ? Ending::Done : Ending::NoProof;
}

std::string told(const KernelSetAnswer& family, const Telling& how) {
  if (how.json()) return kernel_set_json(family).pretty();
  return how.brief() ? kernel_set_headline(family, how.style) + "\n" : kernel_set_summary(family, how.style);
}

}  // namespace heddle::app
