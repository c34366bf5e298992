#pragma once

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <concepts>
#include <string>
#include <system_error>

namespace examples {

/// Stricter than CLI::Range, which accepts NaN, takes -1 for a large unsigned number, and 010 for 8.
template <class T>
CLI::Validator from_to(T least, T most) {
    const std::string range = fmt::format("from {} to {}", least, most);
    const auto check = [=](const std::string& text) {
        T value{};
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        const bool is_octal = std::integral<T> && text.size() > 1 && text.front() == '0';
        const bool is_number = error == std::errc() && stop == end && !is_octal;
        if (!is_number || !(least <= value && value <= most))
            return fmt::format("{} is not a {}number {}", text, std::integral<T> ? "whole " : "", range);
        return std::string();
    };
    return {check, range};
}

}  // namespace examples
