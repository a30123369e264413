<?php
namespace P;

const LIMIT = 1;

/** A. */
#[Marked]
final class A extends B implements C
{
    const KIND = 'a';
    private int $count = 0;

    /** Runs. */
    public function run(): void {}
    public function testWorks(): void {}
}
interface Shape { public function area(): float; }
trait Sized {}
enum Color { case Red; case Green; }
function free() {}
$handler = function () {};
it('works', function () {});
