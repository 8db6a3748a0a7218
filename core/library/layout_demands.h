// Demands about layouts and instructions, in words, as they stand among the demands on a schedule: "layout dqs0 panels 32",
// "store dqs0 by st.shared.8", "load xs by ld.shared.16", "convert ph0 in registers", "prepack W off".
#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/kernel/kernel.h"
#include "core/layout/choices.h"

namespace heddle {

/// True: the sentence begins like one of these, so it is no other demand; what it says is in `choices` then, or its faults are in `faults`.
/// After "prepack" stands a tensor, and "on" or "off". After "store" and "load" stands the value in shared memory, the one in registers, or
/// the op itself; after "convert" the op or one of its values.
bool take_layout_demand(std::string_view sentence, const Kernel& kernel, LayoutChoices& choices, std::vector<Fault>& faults);

}  // namespace heddle
