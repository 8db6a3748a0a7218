// A member of a family of kernels becomes what is worked on.
#pragma once

#include <cstddef>
#include <string>

#include "app/session/edits.h"
#include "app/session/proposal_commands.h"

namespace heddle::app {

class Questions;

class FamilyMembers : Opener {
 public:
  FamilyMembers(Edits& edits, const Questions& questions) : Opener(edits), questions_(questions) {}

  void on(const OpenMember& c);
  /// Of the family that was solved; empty: OpenMember opens it.
  std::string why_no_member(std::size_t index) const;

 private:
  const Questions& questions_;
};

}  // namespace heddle::app
