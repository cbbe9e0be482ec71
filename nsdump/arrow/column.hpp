// SPDX-License-Identifier: MIT
// arrow: descriptions of columns, and the memory of one batch of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace nsdump::arrow
{
inline constexpr int64_t kBatchRows = 1 << 16;

enum class ColumnType {
    boolean,
    uint32,
    int64,
    uint64,
    float64,
    name,  // int32 index of the dictionary of names
    word,  // int8 index of the column's own few words
    words, // list of uint64
};

struct Column {
    std::string name;
    ColumnType type;
    std::string unit; // metadata of the field; empty: none
    bool is_nullable = false;
    std::span<const char *const> words = {}; // of ColumnType::word
};

// Memory without initial values, aligned as Arrow recommends.
class Buffer
{
public:
    Buffer() = default;
    explicit Buffer(size_t bytes)
        : bytes_(static_cast<std::byte *>(
              std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment)))
    {
        if (!bytes_)
            throw std::bad_alloc();
    }
    template <class T> T *as() const { return reinterpret_cast<T *>(bytes_.get()); }
    explicit operator bool() const { return bytes_ != nullptr; }

private:
    static constexpr size_t kAlignment = 64;
    struct Free {
        void operator()(std::byte *bytes) const { std::free(bytes); }
    };
    std::unique_ptr<std::byte[], Free> bytes_;
};

// A column of one batch.
struct ColumnData {
    Buffer values;             // or offsets of ColumnType::words
    Buffer validity;           // only of nullable columns: a bit by row
    int64_t nulls = 0;         // bits of it that are not set
    std::vector<uint64_t> all; // words of all rows

    explicit ColumnData(const Column &column);
    void set_null(int64_t row)
    {
        validity.as<uint8_t>()[row / 8] &= uint8_t(~(1u << row % 8));
        ++nulls;
    }
    void set_all_null(int64_t rows)
    {
        std::memset(validity.as<uint8_t>(), 0, kBatchRows / 8);
        nulls = rows;
    }
    void set_bit(int64_t row, bool is_set)
    {
        uint8_t &byte = values.as<uint8_t>()[row / 8];
        byte = uint8_t((byte & ~(1u << row % 8)) | unsigned{is_set} << row % 8);
    }
};

struct Batch {
    std::vector<ColumnData> columns;
    int64_t rows = 0;

    explicit Batch(std::span<const Column> all);
};
} // namespace nsdump::arrow
