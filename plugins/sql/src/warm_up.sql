WITH cte AS (
    SELECT a.id, b.name AS Name, count(*) over (partition by a.id) AS n
    FROM tbl_a as a
    INNER JOIN tbl_b b ON a.id = b.a_id
    WHERE a.x <> 1 AND b.y IS NOT NULL AND b.z = 'x'
)

SELECT DISTINCT id, CASE WHEN n > 1 THEN 'many' ELSE 'one' END, coalesce(name, null)
from cte
union select 1, 'a', 'b' order by 1, 2 desc;

INSERT INTO t (a, b) VALUES (1, 2);
UPDATE t SET a = 1 WHERE b IN (SELECT c FROM d);
CREATE TABLE t (id INTEGER NOT NULL, name VARCHAR(10) DEFAULT 'x', PRIMARY KEY (id));
