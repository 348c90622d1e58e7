#pragma once

#include <array>

#include "app/storage/database.h"

namespace quern::app {

/// The conversations schema, one step a version. Steps are only ever added.
inline constexpr std::array<Migration, 3> kConversationSchema{{
    {1, R"sql(
        CREATE TABLE conversations (
            id            INTEGER PRIMARY KEY AUTOINCREMENT,
            title         TEXT NOT NULL,
            model         TEXT NOT NULL DEFAULT '',
            system_prompt TEXT NOT NULL DEFAULT '',
            sampling      TEXT NOT NULL DEFAULT '',
            leaf          INTEGER NOT NULL DEFAULT 0,
            pinned        INTEGER NOT NULL DEFAULT 0,
            created_ms    INTEGER NOT NULL,
            updated_ms    INTEGER NOT NULL,
            deleted_ms    INTEGER
        );
        CREATE TABLE messages (
            id           INTEGER PRIMARY KEY AUTOINCREMENT,
            conversation INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
            parent       INTEGER NOT NULL,
            role         TEXT NOT NULL,
            text         TEXT NOT NULL,
            state        INTEGER NOT NULL,
            error        TEXT NOT NULL DEFAULT '',
            model        TEXT NOT NULL DEFAULT '',
            owner        TEXT NOT NULL DEFAULT '',
            created_ms   INTEGER NOT NULL,
            prompt_tokens     INTEGER NOT NULL DEFAULT 0,
            cached_tokens     INTEGER NOT NULL DEFAULT 0,
            completion_tokens INTEGER NOT NULL DEFAULT 0,
            ttft_ms           REAL NOT NULL DEFAULT 0,
            tokens_per_second REAL NOT NULL DEFAULT 0,
            stop_reason       TEXT NOT NULL DEFAULT ''
        );
        CREATE INDEX messages_by_parent ON messages(conversation, parent);
        CREATE INDEX messages_streaming ON messages(state) WHERE state = 1;
        CREATE VIRTUAL TABLE messages_text USING fts5(text, content='messages', content_rowid='id');
        CREATE TRIGGER messages_inserted AFTER INSERT ON messages BEGIN
            INSERT INTO messages_text(rowid, text) VALUES (new.id, new.text);
        END;
        CREATE TRIGGER messages_deleted AFTER DELETE ON messages BEGIN
            INSERT INTO messages_text(messages_text, rowid, text) VALUES ('delete', old.id, old.text);
        END;
        CREATE TRIGGER messages_updated AFTER UPDATE OF text ON messages BEGIN
            INSERT INTO messages_text(messages_text, rowid, text) VALUES ('delete', old.id, old.text);
            INSERT INTO messages_text(rowid, text) VALUES (new.id, new.text);
        END;
    )sql"},
    {2, "ALTER TABLE messages ADD COLUMN reasoning TEXT NOT NULL DEFAULT ''"},
    {3, "ALTER TABLE messages ADD COLUMN calls TEXT NOT NULL DEFAULT ''"},
}};

}  // namespace quern::app
