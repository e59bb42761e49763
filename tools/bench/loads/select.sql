-- SPDX-License-Identifier: GPL-2.0-only
-- What pgbench -S does, and a division by 0 when the row is not as pgbench -i made it; \gset ends it when there is none.
\set aid random(1, 100000 * :scale)
SELECT abalance, 1 / (bid = (:aid - 1) / 100000 + 1 AND abalance = 0 AND filler = '')::int AS right
FROM pgbench_accounts WHERE aid = :aid \gset
