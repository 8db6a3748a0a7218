#include "core/tuning_space/candidate.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/suggest.h"
#include "core/schedule/constraint_text.h"
#include "core/simulate/balance_study.h"

namespace heddle {
namespace {

constexpr std::string_view kSubtilePrefix = "subtile_";
constexpr std::int64_t kMostStages = 6;  // of a derived space: what the solver looks at unless told otherwise

struct CapName {
  const char* name;
  ConstraintKind kind;
  std::int64_t low, high;
};
constexpr CapName kCaps[] = {{"groups", ConstraintKind::MaxGroups, 1, 16},  {"stages", ConstraintKind::MaxStages, 1, 64},
                             {"warps", ConstraintKind::MaxWarps, 1, 64},    {"registers", ConstraintKind::MaxRegisters, 1, 255},
                             {"smem", ConstraintKind::MaxSmem, 0, 1 << 30}, {"tmem", ConstraintKind::MaxTmem, 0, 1 << 20}};

struct Words {
  const char* name;
  const char* first;
  const char* second;
};
constexpr Words kWords[] = {
    {"grid", "tiles", "persistent"}, {"order", "grid", "longest"}, {"merge", "add", "second_pass"}, {"turns", "on", "off"}};

const CapName* find_cap(const std::string& name) {
  const auto* it = std::find_if(std::begin(kCaps), std::end(kCaps), [&](const CapName& c) { return name == c.name; });
  return it == std::end(kCaps) ? nullptr : it;
}

const Words* find_words(const std::string& name) {
  const auto* it = std::find_if(std::begin(kWords), std::end(kWords), [&](const Words& w) { return name == w.name; });
  return it == std::end(kWords) ? nullptr : it;
}

bool is_number(const Parameter& p) { return p.kind == ParameterKind::Integer || p.kind == ParameterKind::Ordinal; }
std::int64_t smallest(const Parameter& p) { return p.number_at(0); }
std::int64_t largest(const Parameter& p) { return p.number_at(p.count() - 1); }

void apply(const Parameter& p, double value, InstanceSpec& spec, CandidateSettings& out) {
  const auto index = static_cast<std::int64_t>(value);
  if (spec.kernel->find_param(p.name)) {
    spec.params[p.name] = p.number_at(index);
  } else if (p.name.starts_with(kSubtilePrefix)) {
    if (p.number_at(index) > 1) out.subtiles.push_back({p.name.substr(kSubtilePrefix.size()), p.number_at(index)});
  } else if (const CapName* cap = find_cap(p.name)) {
    UserConstraint demand;
    demand.kind = cap->kind;
    demand.high = p.number_at(index);
    demand.name = describe(demand);
    if (cap->kind == ConstraintKind::MaxGroups) out.groups = static_cast<int>(demand.high);
    out.demands.push_back(std::move(demand));
  } else if (p.name == "split") {
    out.run.split = p.number_at(index);
  } else if (p.name == "cluster") {
    out.cluster = static_cast<int>(p.number_at(index));
  } else {
    const bool second = p.words[static_cast<std::size_t>(index)] == find_words(p.name)->second;
    if (p.name == "grid") out.run.persistent = second;
    if (p.name == "order") out.run.longest_first = second;
    if (p.name == "merge") out.run.second_pass = second;
    if (p.name == "turns") out.turns = !second;
  }
}

}  // namespace

Result<Candidate> make_candidate(const InstanceSpec& subject, const SearchSpace& space, const Config& config) {
  InstanceSpec spec = subject;
  CandidateSettings settings;
  for (std::size_t p = 0; p < space.parameters.size(); ++p) apply(space.parameters[p], config[p], spec, settings);
  for (const Subtile& cut : settings.subtiles) {
    Result<Kernel> parts = subtile(*spec.kernel, cut, spec.params);
    if (!parts) return parts.error();
    spec.kernel = std::make_shared<const Kernel>(*std::move(parts));
  }
  if (settings.run.split > 0 && !merge_fault(*spec.kernel).empty()) settings.run.second_pass = true;
  spec.least_groups = std::max(spec.least_groups, settings.groups);  // fewer are a demand
  Result<Instance> instance = make_instance(std::move(spec));
  if (!instance) return instance.error();
  return Candidate{std::move(settings), *std::move(instance)};
}

std::vector<Fault> check_binding(const SearchSpace& space, const InstanceSpec& subject, const std::string& file) {
  std::vector<Fault> faults;
  std::vector<std::string> known = names_of(subject.kernel->params);
  for (const Param& p : subject.kernel->params) known.push_back(std::string(kSubtilePrefix) + p.name);
  for (const CapName& cap : kCaps) known.emplace_back(cap.name);
  for (const Words& w : kWords) known.emplace_back(w.name);
  known.emplace_back("cluster");
  known.emplace_back("split");
  for (std::size_t i = 0; i < space.parameters.size(); ++i) {
    const Parameter& p = space.parameters[i];
    const auto fault = [&](std::string message, std::string hint = {}) {
      faults.push_back({file, fmt::format("/parameters/{}", i), std::move(message), std::move(hint)});
    };
    const auto range = [&](std::int64_t low, std::int64_t high) {
      if (!is_number(p))
        fault(fmt::format("'{}' takes whole numbers: integer or ordinal, not {}", p.name, to_string(p.kind)));
      else if (p.count() > 0 && (smallest(p) < low || largest(p) > high))
        fault(fmt::format("'{}' lies from {} to {}", p.name, low, high));
    };
    if (subject.kernel->find_param(p.name)) {
      range(-(std::int64_t{1} << 40), std::int64_t{1} << 40);
      if (subject.params.count(p.name)) fault(fmt::format("'{}' is set and varies at the same time", p.name));
    } else if (p.name.starts_with(kSubtilePrefix) && subject.kernel->find_param(p.name.substr(kSubtilePrefix.size()))) {
      range(1, kMostSubtiles);
    } else if (const CapName* cap = find_cap(p.name)) {
      range(cap->low, cap->high);
    } else if (p.name == "cluster") {
      range(1, 2);
    } else if (p.name == "split") {
      range(0, 1'000'000'000);
    } else if (const Words* w = find_words(p.name)) {
      const bool good = p.kind == ParameterKind::Categorical && std::all_of(p.words.begin(), p.words.end(), [&](const std::string& word) {
                          return word == w->first || word == w->second;
                        });
      if (!good) fault(fmt::format("'{}' is one of \"{}\" and \"{}\"", p.name, w->first, w->second), "as a categorical parameter");
    } else {
      const std::string hint = did_you_mean(p.name, known);
      fault(fmt::format("'{}' means nothing for kernel '{}'", p.name, subject.kernel->name),
            hint.empty() ? "there is " + list_of(known) : hint);
    }
  }
  return faults;
}

SearchSpace space_of(const InstanceSpec& subject, const SpaceOptions& options) {
  SearchSpace space;
  space.name = subject.kernel->name;
  const Kernel& kernel = *subject.kernel;
  const auto ordinal = [&](std::string name, std::vector<std::int64_t> values, std::int64_t standard, std::string about) {
    values.push_back(standard);
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (values.size() < 2) return;
    Parameter p;
    p.name = std::move(name);
    p.kind = ParameterKind::Ordinal;
    p.log = values.front() > 0 && values.back() >= 2 * values.front();
    p.standard = static_cast<double>(std::find(values.begin(), values.end(), standard) - values.begin());
    p.values = std::move(values);
    p.about = std::move(about);
    space.parameters.push_back(std::move(p));
  };
  const auto integer = [&](std::string name, std::int64_t low, std::int64_t high, std::int64_t standard, std::string about) {
    if (high <= low) return;
    Parameter p;
    p.name = std::move(name);
    p.kind = ParameterKind::Integer;
    p.low = low;
    p.high = high;
    p.standard = static_cast<double>(standard - low);
    p.about = std::move(about);
    space.parameters.push_back(std::move(p));
  };
  const auto words = [&](const char* name, std::string about) {
    const Words* w = find_words(name);
    Parameter p;
    p.name = name;
    p.kind = ParameterKind::Categorical;
    p.words = {w->first, w->second};
    p.about = std::move(about);
    space.parameters.push_back(std::move(p));
  };
  for (const Param& p : kernel.params)
    if (!p.choices.empty() && !subject.params.count(p.name)) ordinal(p.name, p.choices, p.value, p.about);
  const std::vector<std::string> steps = kernel.loop.trips.names();
  for (const Param& p : kernel.params)
    if (std::find(steps.begin(), steps.end(), p.name) == steps.end() && subtile(kernel, {p.name, 2}, subject.params))
      ordinal(std::string(kSubtilePrefix) + p.name, {1, 2}, 1, "parts of " + p.name);
  const Result<Problem> problem = make_problem(subject);
  const std::int64_t fewest = problem && problem->has_producer_group() ? 2 : 1;
  integer("groups", std::min<std::int64_t>(fewest, kernel.max_groups), kernel.max_groups, kernel.max_groups,
          "most warp groups, producer included");
  integer("stages", 1, kMostStages, kMostStages, "most pipeline stages");
  if (!kernel.grid.empty()) words("grid", "a CTA per tile, or CTAs that stay");
  if (kernel.loop.tile_trips) words("order", "tiles in the grid's order, or longest first");
  if (kernel.loop.tile_trips && !kernel.loop.tile_trips->tables().empty() && problem) {
    std::vector<std::int64_t> cuts = usual_cuts(tile_grid(kernel, problem->params));
    if (!cuts.empty()) ordinal("split", std::move(cuts), 0, "most iterations of a tile before it is cut; 0: none is");
    if (merge_fault(kernel).empty()) words("merge", "pieces of cut tiles are added up, or joined by a second pass");
  }
  if (options.emission) {
    integer("cluster", 1, 2, 1, "CTAs that share their loads");
    words("turns", "barriers that keep the order on the tensor cores");
  }
  return space;
}

}  // namespace heddle
