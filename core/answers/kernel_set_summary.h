// The answer of `heddle family` in words.
#pragma once

#include <string>

#include "core/answers/kernel_set.h"
#include "core/base/text_style.h"

namespace heddle {

/// "KV=176 groups<=3 · II 2816 · 2048 MAC/cycle · 100 % of the tensor peak · proved", or why there is no best member.
std::string family_headline(const FamilyAnswer& family, const TextStyle& style);

/// What is known about one member, without its name: "II 2816 · optimal · 2048 MAC/cycle".
std::string member_facts(const FamilyMember& member, const TextStyle& style);

/// Headline, table of members (the fastest first), why the others were not solved, and the best under each objective.
std::string family_summary(const FamilyAnswer& family, const TextStyle& style);

}  // namespace heddle
