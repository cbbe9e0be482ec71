// SPDX-License-Identifier: MIT
// arrow: columns and batches -> structures of the C data interface, which own their memory.
#include "arrow/c_export.hpp"

#include <cstring>

namespace nsdump::arrow
{
namespace
{
// What an ArrowSchema or ArrowArray points to.  A receiver may move a child elsewhere and release
// it on its own, so each has a holder.
template <class Of> struct Holder {
    std::vector<Of> children;
    std::vector<Of *> child_pointers;
    std::unique_ptr<Of> dictionary;
    // Of a schema.
    std::string name, metadata;
    // Of an array.
    std::vector<const void *> buffers;
    Buffer values, validity;
    std::vector<uint64_t> words;
    std::shared_ptr<const Texts> texts;

    Holder() = default;
    Holder(const Holder &) = delete;
    Holder &operator=(const Holder &) = delete;
    ~Holder()
    {
        for (Of &child : children)
            if (child.release)
                child.release(&child);
        if (dictionary && dictionary->release)
            dictionary->release(dictionary.get());
    }
};

template <class Of> void release(Of *of)
{
    delete static_cast<Holder<Of> *>(of->private_data);
    of->release = nullptr;
}

// Fills the members that do not depend on the type, and takes the holder.
template <class Of> void give(std::unique_ptr<Holder<Of>> holder, Of *out)
{
    for (Of &child : holder->children)
        holder->child_pointers.push_back(&child);
    out->n_children = int64_t(holder->children.size());
    out->children = holder->child_pointers.empty() ? nullptr : holder->child_pointers.data();
    out->dictionary = holder->dictionary.get();
    out->release = release<Of>;
    out->private_data = holder.release();
}

void add_number(std::string &out, size_t number)
{
    const auto value = int32_t(number);
    char bytes[sizeof(value)];
    std::memcpy(bytes, &value, sizeof(value));
    out.append(bytes, sizeof(value));
}

// The number of pairs, then each key and value with its length.
std::string encoded(const Metadata &metadata)
{
    std::string out;
    add_number(out, metadata.size());
    for (const auto &[key, value] : metadata)
        for (const std::string *text : {&key, &value}) {
            add_number(out, text->size());
            out += *text;
        }
    return out;
}

const char *format_of(ColumnType type)
{
    switch (type) {
    case ColumnType::boolean: return "b";
    case ColumnType::uint32: return "I";
    case ColumnType::int64: return "l";
    case ColumnType::uint64: return "L";
    case ColumnType::float64: return "g";
    case ColumnType::name: return "i";
    case ColumnType::word: return "c";
    case ColumnType::words: return "+l";
    }
    return "n";
}

void export_plain(const char *format, const char *name, ArrowSchema *out)
{
    *out = {};
    auto holder = std::make_unique<Holder<ArrowSchema>>();
    holder->name = name;
    out->format = format;
    out->name = holder->name.c_str();
    give(std::move(holder), out);
}

void export_field(const Column &column, ArrowSchema *out)
{
    *out = {};
    auto holder = std::make_unique<Holder<ArrowSchema>>();
    holder->name = column.name;
    out->format = format_of(column.type);
    out->name = holder->name.c_str();
    out->flags = column.is_nullable ? ARROW_FLAG_NULLABLE : 0;
    if (!column.unit.empty()) {
        holder->metadata = encoded({{"unit", column.unit}});
        out->metadata = holder->metadata.data();
    }
    if (column.type == ColumnType::words) {
        holder->children.resize(1);
        export_plain("L", "item", holder->children.data());
    }
    if (column.type == ColumnType::name || column.type == ColumnType::word) {
        holder->dictionary = std::make_unique<ArrowSchema>();
        export_plain("u", "", holder->dictionary.get());
    }
    give(std::move(holder), out);
}

// Fills an array from buffers that the holder has.
void give_array(std::unique_ptr<Holder<ArrowArray>> holder, int64_t rows, int64_t nulls,
                ArrowArray *out)
{
    *out = {};
    out->length = rows;
    out->null_count = nulls;
    out->n_buffers = int64_t(holder->buffers.size());
    out->buffers = holder->buffers.data();
    give(std::move(holder), out);
}

void export_texts(std::shared_ptr<const Texts> texts, ArrowArray *out)
{
    auto holder = std::make_unique<Holder<ArrowArray>>();
    holder->buffers = {nullptr, texts->offsets.data(), texts->bytes.data()};
    const int64_t rows = texts->size();
    holder->texts = std::move(texts);
    give_array(std::move(holder), rows, 0, out);
}

std::shared_ptr<const Texts> texts_of(std::span<const char *const> words)
{
    auto texts = std::make_shared<Texts>();
    for (const char *word : words)
        texts->add(word);
    return texts;
}

void export_words(std::vector<uint64_t> words, ArrowArray *out)
{
    auto holder = std::make_unique<Holder<ArrowArray>>();
    holder->words = std::move(words);
    holder->buffers = {nullptr, holder->words.data()};
    const auto count = int64_t(holder->words.size());
    give_array(std::move(holder), count, 0, out);
}

void export_column(ColumnData data, int64_t rows, const Column &column,
                   const std::shared_ptr<const Texts> &names, ArrowArray *out)
{
    auto holder = std::make_unique<Holder<ArrowArray>>();
    holder->values = std::move(data.values);
    holder->validity = std::move(data.validity);
    holder->buffers = {data.nulls > 0 ? holder->validity.as<void>() : nullptr,
                       holder->values.as<void>()};
    if (column.type == ColumnType::words) {
        holder->children.resize(1);
        export_words(std::move(data.all), holder->children.data());
    }
    if (column.type == ColumnType::name || column.type == ColumnType::word) {
        holder->dictionary = std::make_unique<ArrowArray>();
        export_texts(column.type == ColumnType::name ? names : texts_of(column.words),
                     holder->dictionary.get());
    }
    give_array(std::move(holder), rows, data.nulls, out);
}
} // namespace

void export_schema(std::span<const Column> columns, const Metadata &metadata, ArrowSchema *out)
{
    *out = {};
    auto holder = std::make_unique<Holder<ArrowSchema>>();
    holder->metadata = encoded(metadata);
    out->format = "+s";
    out->name = holder->name.c_str();
    out->metadata = holder->metadata.data();
    holder->children.resize(columns.size());
    for (size_t i = 0; i < columns.size(); ++i)
        export_field(columns[i], &holder->children[i]);
    give(std::move(holder), out);
}

void export_batch(Batch batch, std::span<const Column> columns,
                  const std::shared_ptr<const Texts> &names, ArrowArray *out)
{
    auto holder = std::make_unique<Holder<ArrowArray>>();
    holder->buffers = {nullptr}; // no row is null as a whole
    holder->children.resize(columns.size());
    for (size_t i = 0; i < columns.size(); ++i)
        export_column(std::move(batch.columns[i]), batch.rows, columns[i], names,
                      &holder->children[i]);
    give_array(std::move(holder), batch.rows, 0, out);
}
} // namespace nsdump::arrow
