// SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104): for texts that others may have forged. core/base/hash.h is for names of things.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {

using Digest256 = std::array<std::uint8_t, 32>;

Digest256 sha256(std::string_view text);
Digest256 hmac_sha256(std::string_view key, std::string_view text);
/// 64 hexadecimal digits.
std::string hex(const Digest256& digest);

}  // namespace heddle
