// Every literal here is true only if the schedules differ, which is all that a clause asking for a difference needs.
#include "solver/questions/difference.h"

#include "core/analysis/channels.h"

namespace heddle::solver {

void SignatureDifference::other_groups(const Schedule& schedule, Clause& any) {
  const std::vector<Stream> streams = streams_of(model_.problem(), schedule);
  for (std::size_t g = 0; g < streams.size(); ++g) {
    const auto& steps = streams[g].steps;
    for (std::size_t i = 1; i < steps.size(); ++i) any.push_back(-model_.same_group(steps[i - 1].op, steps[i].op));
    for (std::size_t h = g + 1; h < streams.size(); ++h) any.push_back(model_.same_group(steps[0].op, streams[h].steps[0].op));
  }
}

/// A stream is what its neighbours say: an other one has some two of them the other way round.
void SignatureDifference::other_streams(const Schedule& schedule, Clause& any) {
  for (const Stream& stream : streams_of(model_.problem(), schedule)) {
    const auto& steps = stream.steps;
    for (std::size_t i = 0; steps.size() > 1 && i < steps.size(); ++i) {
      const bool wraps = i + 1 == steps.size();
      const Stream::Step a = steps[i], b = steps[wraps ? 0 : i + 1];
      const std::int64_t laps = b.lap + (wraps ? 1 : 0) - a.lap;
      const Cycle tie = first_at_tie(model_.problem(), a.op, b.op) ? 1 : 0;
      any.push_back(model_.apart(b.op, a.op, laps * model_.ii() + tie));
    }
  }
}

/// The cyclic order is the order of slots, from whatever op the window happens to begin with.
void SignatureDifference::other_order(const Schedule& schedule, Clause& any) {
  Backend& backend = model_.backend();
  for (const Stream& stream : streams_of(model_.problem(), schedule)) {
    const auto& steps = stream.steps;
    if (steps.size() < 3) continue;
    const Lit differs = backend.new_lit();
    for (std::size_t begin = 0; begin < steps.size(); ++begin) {
      Clause swapped{-differs};
      for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
        const OpId a = steps[(begin + i) % steps.size()].op, b = steps[(begin + i + 1) % steps.size()].op;
        const Cycle tie = first_at_tie(model_.problem(), a, b) ? 1 : 0;
        swapped.push_back(backend.at_least(model_.slot(a), model_.slot(b), tie));
      }
      backend.add_clause(swapped);
    }
    any.push_back(differs);
  }
}

void SignatureDifference::other_lag(const Schedule& schedule, OpId u, OpId v, Clause& any) {
  const Cycle window = stream_lag(model_.problem(), schedule, u, v) * model_.ii();
  const Cycle tie = first_at_tie(model_.problem(), v, u) ? 1 : 0;
  any.push_back(model_.apart(u, v, window + model_.ii() + tie));
  any.push_back(model_.apart(v, u, 1 - tie - window));
}

void SignatureDifference::other_lags(const Schedule& schedule, Clause& any) {
  for (const Edge& e : model_.problem().edges)
    if (e.from != e.to && schedule.group(e.from) == schedule.group(e.to)) other_lag(schedule, e.from, e.to, any);
}

void SignatureDifference::other_depth(const Schedule& schedule, ChannelId id, Clause& any) {
  const int depth = minimal_depths(model_.problem(), schedule)[id.index()];
  if (depth == 0) return;  // whether the channel exists at all is a matter of groups
  any.push_back(-model_.depth_at_least(id, depth));
  const Channel& channel = model_.problem().channel(id);
  for (const Reader& r : channel.readers) {
    const Cycle released = (depth - r.distance) * model_.ii() + 1 - r.release;
    if (!channel.only_if_crossing) any.push_back(model_.apart(channel.writer, r.op, released));
    if (r.signal <= 0 && !channel.only_if_crossing) continue;
    const Lit signalled = model_.backend().new_lit();
    model_.backend().add_clause({-signalled, -model_.same_group(channel.writer, r.op)});
    model_.backend().add_clause({-signalled, model_.apart(channel.writer, r.op, released - r.signal)});
    any.push_back(signalled);
  }
}

void SignatureDifference::require_another(const Schedule& schedule, Aspect aspect) {
  Clause any;
  other_groups(schedule, any);
  if (aspect == Aspect::Any) other_streams(schedule, any);
  if (aspect == Aspect::Order) other_order(schedule, any);
  if (aspect == Aspect::Stages) other_lags(schedule, any);
  if (aspect == Aspect::Any || aspect == Aspect::Stages)
    for (std::size_t c = 0; c < model_.problem().channels.size(); ++c) other_depth(schedule, ChannelId(c), any);
  model_.backend().add_clause(any);
}

Lit SignatureDifference::any_of(Clause any) {
  const Lit differs = model_.backend().new_lit();
  any.push_back(-differs);
  model_.backend().add_clause(any);
  return differs;
}

std::vector<Lit> SignatureDifference::places(const Schedule& schedule) {
  std::vector<Lit> places;
  for (std::size_t i = 0; i < model_.op_count(); ++i)
    for (std::size_t j = i + 1; j < model_.op_count(); ++j) {
      const OpId u{i}, v{j};
      const Lit together = model_.same_group(u, v);
      Clause any{-together};
      if (schedule.group(u) == schedule.group(v)) other_lag(schedule, u, v, any);
      places.push_back(any.size() > 1 ? any_of(std::move(any)) : together);
    }
  for (std::size_t c = 0; c < model_.problem().channels.size(); ++c) {
    Clause any;
    other_depth(schedule, ChannelId(c), any);
    places.push_back(any_of(std::move(any)));
  }
  return places;
}

Lit SignatureDifference::at_least(const std::vector<Lit>& places, int distance) {
  std::vector<WeightedLit> same;
  for (const Lit place : places) same.push_back({1, -place});
  const Lit far = model_.backend().new_lit();
  model_.backend().add_at_most(std::move(same), static_cast<std::int64_t>(places.size()) - distance, far);
  return far;
}

int SignatureDifference::greatest() const {
  const std::size_t ops = model_.op_count();
  return static_cast<int>(ops * (ops - 1) / 2 + model_.problem().channels.size());
}

}  // namespace heddle::solver
