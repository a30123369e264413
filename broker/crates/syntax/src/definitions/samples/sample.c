#ifndef A_H
#define A_H
#define LIMIT 10
#define TWICE(x) ((x) * 2)

struct forward;
/* S. */
struct s {
	int a;
};
typedef struct { int b; } anonymous;
typedef struct named { int c; } named;
typedef int (*callback)(int);
typedef unsigned int id;
enum color { RED, GREEN = 2 };
int declared(int a);

/* Runs. */
static int
*run(struct s *a)
{
	int local(int);
}
#endif
