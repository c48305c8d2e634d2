// How rows lie in the registers of a block.
//
// A team of eight lanes has 256 columns of a row: chunk i of lane l is the eight numbers from column 64 i + 8 l on. So a
// team reads 128 bytes in one piece and writes 64, and half of a rotation needs no other lane. A row belongs to as many
// teams as it needs, and stays where it is from its only reading to its only writing.
#pragma once

#include "../primitives.h"
#include "params.h"

namespace mezzotint::quantize {

using Numbers = float[kChunks][kEight];

// This lane's place: its row, and its first column there.
struct Place {
    int row, column;
    int team, first_team;  // of the block; the first of this row's
    int lane;              // of the team
    bool has_row;          // some teams of the last warp, and of the last block, have none
};

MZT_DEVICE Place place_of(const QuantizeParams& params) {
    Place place;
    place.lane = thread_index() % kTeamLanes;
    place.team = thread_index() / kTeamLanes;
    const int of_block = place.team * params.rows_per_65536_teams >> 16;
    place.row = static_cast<int>(block_index()) * params.rows_per_block + of_block;
    place.has_row = of_block < params.rows_per_block && place.row < params.rows;
    place.first_team = place.has_row ? of_block * params.teams_per_row : 0;
    place.column = (place.team - place.first_team) * kTeamColumns + place.lane * kEight;
    return place;
}

MZT_DEVICE int column_of(const Place& place, int chunk) { return place.column + chunk * kTeamLanes * kEight; }

MZT_DEVICE bool is_inside(const Place& place, const QuantizeParams& params, int chunk) {
    return place.has_row && column_of(place, chunk) < params.columns;
}

struct Sum {
    static MZT_DEVICE float join(float a, float b) { return a + b; }
};
struct Largest {
    static MZT_DEVICE float join(float a, float b) { return larger(a, b); }
};

template <class How>
MZT_DEVICE float join_team(float value) {
#pragma unroll
    for (int apart = 1; apart < kTeamLanes; apart *= 2) value = How::join(value, shuffle_xor(value, apart));
    return value;
}

// What the lanes of a row have, joined, for all of them; each number has a board of its own, a place for each team.
template <class How, int count>
MZT_DEVICE void join_rows(float (&values)[count], const Place& place, const QuantizeParams& params, float* boards) {
#pragma unroll
    for (int each = 0; each < count; ++each) {
        values[each] = join_team<How>(values[each]);
        if (place.lane == 0) boards[each * kMostTeams + place.team] = values[each];
    }
    barrier();
#pragma unroll
    for (int each = 0; each < count; ++each) {
        const float* board = boards + each * kMostTeams;
        float all = 0;
        for (int team = place.lane; team < params.teams_per_row; team += kTeamLanes) {
            all = How::join(all, board[place.first_team + team]);
        }
        values[each] = join_team<How>(all);
    }
}

template <class How>
MZT_DEVICE float join_row(float value, const Place& place, const QuantizeParams& params, float* board) {
    float values[1] = {value};
    join_rows<How>(values, place, params, board);
    return values[0];
}

}  // namespace mezzotint::quantize
