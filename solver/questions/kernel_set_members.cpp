// One odometer per kernel over the variations that concern it.
#include "solver/questions/kernel_set_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "core/base/saturate.h"
#include "core/base/scanner.h"
#include "core/base/split.h"
#include "core/base/suggest.h"
#include "core/kernel/switches.h"

namespace heddle {
namespace {

constexpr std::string_view kSubtilePrefix = "subtile:";
constexpr std::int64_t kMostGroups = 16;  // as --groups

/// "128,176" or "2..5" or both.
Result<std::vector<std::int64_t>> values(const std::string& text) {
  constexpr std::int64_t kMostValue = std::int64_t{1} << 32;
  std::vector<std::int64_t> out;
  for (const std::string& part : split(text, ',')) {
    const std::size_t dots = part.find("..");
    const auto low = read_number<std::int64_t>(std::string_view(part).substr(0, dots));
    const auto high = dots == std::string::npos ? low : read_number<std::int64_t>(std::string_view(part).substr(dots + 2));
    if (!low || !high || *low < -kMostValue || *high > kMostValue) return Error::input(fmt::format("'{}' is no list of integers", text));
    if (*high < *low) return Error::input(fmt::format("nothing lies from {} to {}", *low, *high));
    if (*high - *low >= static_cast<std::int64_t>(kMostKernelSetMembers))
      return Error::input(
          fmt::format("{} to {} are {} values, a family has at most {} members", *low, *high, *high - *low + 1, kMostKernelSetMembers));
    for (std::int64_t v = *low; v <= *high; ++v) out.push_back(v);
  }
  return out;
}

class Expansion {
 public:
  explicit Expansion(const KernelSetSpec& spec) : spec_(spec) {}

  Result<std::vector<KernelSetMember>> run(const std::stop_token& stop) {
    check_names();
    std::vector<std::vector<Variation>> per_kernel;
    std::int64_t count = 0;
    for (const auto& kernel : spec_.kernels) {
      per_kernel.push_back(variations_of(*kernel));
      std::int64_t members = 1;
      for (const Variation& v : per_kernel.back()) members = sat_mul(members, static_cast<std::int64_t>(v.values.size()));
      count = sat_add(count, members);
    }
    if (count > static_cast<std::int64_t>(kMostKernelSetMembers))
      error_.faults.push_back(
          {"", "", fmt::format("the family has {} members, at most {} are accepted", count, kMostKernelSetMembers), "vary less at a time"});
    if (!error_.faults.empty()) return error_;
    for (std::size_t k = 0; k < spec_.kernels.size(); ++k) expand(*spec_.kernels[k], per_kernel[k], stop);
    check_work();
    if (!error_.faults.empty()) return error_;
    return std::move(members_);
  }

 private:
  void fault(std::string message, std::string hint = {}, const char* part = "") {
    error_.faults.push_back({"", "", std::move(message), std::move(hint), part});
  }

  bool has_param(const std::string& name) const {
    return std::any_of(spec_.kernels.begin(), spec_.kernels.end(), [&](const auto& k) { return k->find_param(name); });
  }

  void check_names() {
    std::vector<std::string> known;
    for (const auto& kernel : spec_.kernels)
      for (const Param& p : kernel->params)
        if (std::find(known.begin(), known.end(), p.name) == known.end()) known.push_back(p.name);
    std::set<std::string> seen;
    const auto expect = [&](const std::string& name) {
      if (has_param(name)) return true;
      std::string hint = did_you_mean(name, known);
      if (hint.empty()) hint = known.empty() ? "there are no parameters" : "there is " + list_of(known);
      fault(fmt::format("no kernel of the family has a parameter '{}'", name), std::move(hint));
      return false;
    };
    for (const auto& [name, value] : spec_.each.params) expect(name);
    for (const Change& change : spec_.each.changes)
      if (change.kind == ChangeKind::Groups)
        fault(fmt::format("{} changes what is a choice of the family", describe(change)), {}, "groups of a family");
    for (const Variation& v : spec_.vary) {
      const std::string key = (v.kind == Variation::Kind::Subtile ? "subtile:" : "") + v.name;
      if (!seen.insert(v.kind == Variation::Kind::Groups ? "groups" : key).second)
        fault(fmt::format("'{}' varies twice", key.empty() ? "groups" : key));
      if (v.kind == Variation::Kind::Groups || !expect(v.name)) continue;
      if (v.kind == Variation::Kind::Param && spec_.each.params.contains(v.name))
        fault(fmt::format("parameter '{}' is set and varies at the same time", v.name));
      const bool choices = std::any_of(spec_.kernels.begin(), spec_.kernels.end(), [&](const auto& k) {
        const Param* p = k->find_param(v.name);
        return p && !p->choices.empty();
      });
      if (v.values.empty() && !choices)
        fault(fmt::format("parameter '{}' lists no choices to vary over", v.name), fmt::format("{}=V1,V2", v.name), "values of a family");
    }
  }

  /// What varies for this kernel, groups last.
  std::vector<Variation> variations_of(const Kernel& kernel) const {
    std::vector<Variation> out;
    for (Variation v : spec_.vary) {
      if (v.kind == Variation::Kind::Groups) continue;
      const Param* p = kernel.find_param(v.name);
      if (!p) continue;
      if (v.values.empty()) v.values = p->choices.empty() ? std::vector<std::int64_t>{p->value} : p->choices;
      out.push_back(std::move(v));
    }
    for (const Param& p : kernel.params) {
      const bool named = std::any_of(spec_.vary.begin(), spec_.vary.end(),
                                     [&](const Variation& v) { return v.kind == Variation::Kind::Param && v.name == p.name; });
      if (spec_.all_choices && p.choices.size() > 1 && !named && !spec_.each.params.contains(p.name))
        out.push_back({Variation::Kind::Param, p.name, p.choices});
    }
    const auto groups =
        std::find_if(spec_.vary.begin(), spec_.vary.end(), [](const Variation& v) { return v.kind == Variation::Kind::Groups; });
    if (groups != spec_.vary.end()) out.push_back(*groups);
    for (Variation& v : out) {
      std::set<std::int64_t> seen;
      std::erase_if(v.values, [&](std::int64_t value) { return !seen.insert(value).second; });
    }
    return out;
  }

  void expand(const Kernel& kernel, const std::vector<Variation>& vary, const std::stop_token& stop) {
    const bool groups_vary = !vary.empty() && vary.back().kind == Variation::Kind::Groups;
    std::vector<std::size_t> at(vary.size(), 0);
    for (bool more = true; more && !stop.stop_requested();) {
      if (!groups_vary || at.back() == 0) ++series_;
      members_.push_back(member(kernel, vary, at));
      more = false;
      for (std::size_t d = at.size(); d-- > 0;) {
        if (++at[d] < vary[d].values.size()) {
          more = true;
          break;
        }
        at[d] = 0;
      }
    }
  }

  KernelSetMember member(const Kernel& kernel, const std::vector<Variation>& vary, const std::vector<std::size_t>& at) const {
    KernelSetMember m;
    m.kernel = m.problem.kernel = kernel.name;
    m.problem.machine = spec_.each.machine->name;
    m.series = series_;
    m.groups = m.usual_groups = kernel.max_groups;
    Scope params;
    for (const auto& [name, value] : spec_.each.params)
      if (kernel.find_param(name)) params[name] = value;
    if (spec_.kernels.size() > 1) m.label = kernel.name;
    const auto say = [&](const std::string& text) { m.label += (m.label.empty() ? "" : " ") + text; };
    for (std::size_t d = 0; d < vary.size(); ++d) {
      const std::int64_t value = vary[d].values[at[d]];
      switch (vary[d].kind) {
        case Variation::Kind::Param:
          params[vary[d].name] = value;
          m.choices.emplace_back(vary[d].name, value);
          say(fmt::format("{}={}", vary[d].name, value));
          break;
        case Variation::Kind::Subtile:
          m.subtiles.push_back({vary[d].name, value});
          say(fmt::format("{}/{}", vary[d].name, value));
          break;
        case Variation::Kind::Groups:
          m.groups = static_cast<int>(std::clamp<std::int64_t>(value, -1, 1 << 20));
          say(fmt::format("groups<={}", value));
          break;
      }
    }
    build(kernel, params, m);
    if (m.label.empty()) m.label = kernel.name;
    std::erase_if(m.subtiles, [](const Subtile& s) { return s.factor == 1; });
    return m;
  }

  void build(const Kernel& kernel, const Scope& params, KernelSetMember& m) const {
    Result<Kernel> now = settled(kernel, params);
    if (!now) {
      m.faults = now.error().faults;
      return;
    }
    Kernel cut = *std::move(now);
    for (const Subtile& s : m.subtiles) {
      Result<Kernel> parts = subtile(cut, s, params);
      if (!parts) {
        m.faults = parts.error().faults;
        return;
      }
      cut = *std::move(parts);
    }
    cut.max_groups = m.groups;
    InstanceSpec spec = spec_.each;
    spec.kernel = std::make_shared<const Kernel>(std::move(cut));
    spec.params = params;
    Result<Problem> problem = make_problem(spec);
    if (!problem) {
      m.faults = problem.error().faults;
      return;
    }
    m.problem = *std::move(problem);
    m.work = work_per_iteration(*spec.kernel, *spec.machine, params);
    if (!spec_.each.changes.empty()) m.work.at_peak = 0;
  }

  void check_work() {
    const KernelSetMember* first = nullptr;
    for (const KernelSetMember& m : members_) {
      if (m.invalid()) continue;
      if (!first) first = &m;
      if (m.work.kind == first->work.kind) continue;
      return fault(fmt::format("members cannot be compared: the work of '{}' is counted in {}, that of '{}' in {}", first->label,
                               to_string(first->work.kind), m.label, to_string(m.work.kind)),
                   "put kernels that do the same kind of work into one family");
    }
  }

  const KernelSetSpec& spec_;
  Error error_;
  std::vector<KernelSetMember> members_;
  std::size_t series_ = 0;
};

}  // namespace

Result<Variation> parse_variation(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::string key = text.substr(0, equals);
  Variation v;
  if (key == "groups") {
    v.kind = Variation::Kind::Groups;
  } else if (key.starts_with(kSubtilePrefix)) {
    v.kind = Variation::Kind::Subtile;
    v.name = key.substr(kSubtilePrefix.size());
  } else {
    v.name = key;
  }
  const bool nameless = v.kind != Variation::Kind::Groups && v.name.empty();
  const std::string expected = "expected PARAM=V1,V2, groups=2..5 or subtile:PARAM=1,2,4";
  if (nameless) return Error::about("vary", text + ": names nothing", expected);
  if (equals == std::string::npos) {
    if (v.kind != Variation::Kind::Param) return Error::about("vary", text + ": needs values", expected);
    return v;
  }
  const auto list = values(text.substr(equals + 1));
  if (!list) return Error::about("vary", text + ": " + list.error().faults.front().message, expected);
  v.values = *list;
  if (v.kind == Variation::Kind::Groups && std::any_of(list->begin(), list->end(), [](std::int64_t g) { return g < 1 || g > kMostGroups; }))
    return Error::about("vary", fmt::format("{}: groups are 1 to {}, the producer included", text, kMostGroups));
  return v;
}

Result<std::vector<KernelSetMember>> kernel_set_members(const KernelSetSpec& spec, const std::stop_token& stop) {
  return Expansion(spec).run(stop);
}

}  // namespace heddle
