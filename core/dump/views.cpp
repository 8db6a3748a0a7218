#include "core/dump/views.h"

#include <algorithm>

#include "core/base/saturate.h"
#include "core/dump/native.h"

namespace heddle::dump {

std::vector<bool> storage_views(const DumpLoop& loop) {
  std::vector<bool> views(loop.nodes.size(), false);
  for (std::size_t i = 0; i < loop.nodes.size(); ++i) {
    const DumpNode& n = loop.nodes[i];
    if (!n.view || n.super || (n.result.space != TileType::Space::Smem && n.result.space != TileType::Space::Tmem)) continue;
    bool storage = false, other = false;
    for (const DumpEdge& e : loop.edges) {
      if (e.to != i) continue;
      storage |= e.carrier == Carrier::Memory && e.distance == 0;
      other |= e.carrier == Carrier::Register || e.distance > 0;
    }
    views[i] = storage && !other;
  }
  return views;
}

DumpLoop without_views(const DumpLoop& loop) {
  const std::vector<bool> views = storage_views(loop);
  DumpLoop out = loop;
  // One view after the other: its ways in times its ways out.
  for (std::size_t v = 0; v < views.size(); ++v) {
    if (!views[v]) continue;
    std::vector<DumpEdge> edges, in, past;
    for (const DumpEdge& e : out.edges) (e.to == v ? in : e.from == v ? past : edges).push_back(e);
    for (const DumpEdge& a : in)
      for (const DumpEdge& b : past) {
        DumpEdge both = a;
        both.to = b.to;
        both.latency = std::min(sat_add(a.latency, b.latency), Cycle{1} << 31);
        both.distance = a.distance + b.distance;
        const bool known = std::any_of(edges.begin(), edges.end(), [&](const DumpEdge& e) {
          return e.from == both.from && e.to == both.to && e.distance == both.distance && e.latency >= both.latency &&
                 e.carrier == both.carrier;
        });
        if (!known && edges.size() < 100'000) edges.push_back(std::move(both));
      }
    for (const DumpEdge& a : in)
      if (a.carrier == Carrier::Memory && out.nodes[a.from].produces < 0) out.nodes[a.from].produces = out.nodes[v].produces;
    for (const DumpEdge& b : past)
      out.nodes[b.to].consumes.insert(out.nodes[b.to].consumes.end(), out.nodes[v].consumes.begin(), out.nodes[v].consumes.end());
    out.edges = std::move(edges);
  }
  std::vector<std::size_t> index(views.size(), 0);
  std::vector<DumpNode> nodes;
  for (std::size_t i = 0; i < views.size(); ++i) {
    index[i] = nodes.size();
    if (!views[i]) nodes.push_back(std::move(out.nodes[i]));
  }
  out.nodes = std::move(nodes);
  for (DumpEdge& e : out.edges) {
    e.from = index[e.from];
    e.to = index[e.to];
  }
  const auto remap = [&](std::vector<std::size_t>& list) {
    std::erase_if(list, [&](std::size_t i) { return views[i]; });
    for (std::size_t& i : list) i = index[i];
  };
  for (Resident& r : out.residents) remap(r.users);
  for (Cluster& c : out.clusters) remap(c.nodes);
  std::erase_if(out.rings, [&](const Ring& r) { return views[r.writer]; });
  for (Ring& r : out.rings) {
    r.writer = index[r.writer];
    remap(r.readers);
  }
  std::erase_if(out.barriers, [&](const DumpBarrier& b) { return views[b.producer] || views[b.consumer]; });
  for (DumpBarrier& b : out.barriers) {
    b.producer = index[b.producer];
    b.consumer = index[b.consumer];
  }
  if (out.canonical_root >= 0)
    out.canonical_root =
        views[static_cast<std::size_t>(out.canonical_root)] ? -1 : static_cast<int>(index[static_cast<std::size_t>(out.canonical_root)]);
  return out;
}

}  // namespace heddle::dump
